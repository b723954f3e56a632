/* Made from graph.schema.json by `npm run generate`; do not edit. */

export type GraphCommand =
  | {
      type: 'profile';
      id: number;
    }
  | {
      type: 'open';
      id: number;
      row: string;
    }
  | {
      type: 'pin';
      id: number;
      row: string;
    }
  | {
      type: 'unpin';
      id: number;
      row: string;
    }
  | {
      type: 'pass';
      id: number;
      name: string;
    };

/**
 * Version 1 of what a GraphSession and its views say to each other.
 */
export interface GraphProtocol {
  state?: GraphState;
  command?: GraphCommand;
  reply?: GraphReply;
  inner?: GraphInner;
}
/**
 * What a view of a compiled graph shows.
 */
export interface GraphState {
  version: 1;
  revision: number;
  graph: GraphHead;
  rows: GraphRow[];
  passes: GraphPass[];
  pins: number;
  job: string | null;
  note: string;
}
export interface GraphHead {
  id: string;
  name: string;
  target: string;
  inputs: string[];
  outputs: string[];
  parameter_bytes: number;
  workspace: number;
  nodes: number;
  seconds: number | null;
}
/**
 * A kernel.
 */
export interface GraphRow {
  id: string;
  name: string;
  kernel: string;
  kind: 'complex' | 'reduction' | 'opaque' | 'injective';
  ops: string[];
  nodes: GraphNode[];
  inputs: GraphValue[];
  outputs: GraphValue[];
  readers: string[];
  lanes: GraphLanes;
  flops: number;
  nbytes: number;
  schedule: 'default' | 'tuned' | 'pinned';
  fused: string;
  ends: string;
  time: GraphTime | null;
}
/**
 * A node of the model inside a kernel.
 */
export interface GraphNode {
  name: string;
  op: string;
  attrs: string;
  type: string;
}
/**
 * What a kernel reads or writes; row is the kernel that makes it, or empty.
 */
export interface GraphValue {
  name: string;
  type: string;
  role: 'input' | 'parameter' | 'output' | 'value';
  row: string;
}
/**
 * Values that flow past a kernel and into it.
 */
export interface GraphLanes {
  column: number;
  into: number[];
  through: number[];
  out: boolean;
}
export interface GraphTime {
  seconds: number;
  share: number;
  gflops: number;
  gbps: number;
  of_roof: number | null;
  before: number | null;
}
export interface GraphPass {
  name: string;
  title: string;
  before: number;
  after: number;
  changed: boolean;
  summary: string;
}
export interface GraphReply {
  type: 'reply';
  re: number;
  ok: boolean;
  data: GraphOpened | GraphDiff | null;
  error: string | null;
}
export interface GraphOpened {
  session: string;
  name: string;
}
export interface GraphDiff {
  lines: GraphDiffLine[];
}
export interface GraphDiffLine {
  sign: '+' | '-' | ' ' | '…';
  text: string;
}
/**
 * A message to or from the session of a kernel's schedule.
 */
export interface GraphInner {
  type: 'inner';
  session: string;
  message: {};
}

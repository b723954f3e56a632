import type {
  Command,
  Details,
  HistoryNode,
  ReplyMessage,
  Row,
  Source,
  State
} from '@tvmlab/schema';

import { marked, t } from './hostPage';
import type { Change, IViewModel } from './model';
import { compareRecorded } from './recordedCompare';

/** What is kept of one state: made by `recording` in Python. */
export interface IRecordedNode {
  rows: Row[];
  /** Those of older sessions know of no inner loops. */
  sources: Partial<
    Record<Source['kind'], Omit<Source, 'kind' | 'inner'> & Partial<Pick<Source, 'inner'>>>
  >;
  passes?: unknown[];
  details?: Record<string, Pick<Details, 'sentence' | 'facts'>>;
  /** Answers of tabs that look at a state alone, by the commands that ask for them. */
  answers?: Record<string, ReplyMessage['data']>;
}

export interface IRecording {
  version: number;
  state: State;
  nodes: Record<string, IRecordedNode>;
  /** The session's file, by which a kernel can go on. */
  file?: string;
}

const RECORDED = marked('This is a recording; open its file in a kernel to go on from here.');
const NOT_KEPT = marked(
  'This was not kept of this state; the current and the named states have it.'
);

/** Whether data is a recording that this view can show. */
export function isRecording(value: unknown): value is IRecording {
  const data = value as Partial<IRecording> | null;
  return (
    typeof data === 'object' &&
    data?.version === 1 &&
    data.state?.version === 1 &&
    Boolean(data.nodes)
  );
}

/**
 * A session that is over: its states can be visited and compared, and its code read. Answers come
 * as they would from a kernel, so the views need not know.
 */
export class RecordedModel implements IViewModel {
  constructor(recording: IRecording) {
    this._recording = recording;
    this._state = { ...recording.state, job: null, auto: false };
  }

  get(key: string): unknown {
    return key === 'state' ? this._state : undefined;
  }

  set(): void {
    // Nobody is there to be told.
  }

  save(): void {
    // Nobody is there to be told.
  }

  onChange(listener: (change: Change) => void): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  send(message: object): void {
    const command = message as Command;
    void Promise.resolve().then(() => {
      const data = this._answer(command);
      const reply: ReplyMessage = {
        type: 'reply',
        re: command.id,
        ok: typeof data !== 'string',
        data: typeof data === 'string' ? null : data,
        error: typeof data === 'string' ? data : null
      };
      this._tell({ kind: 'message', message: reply });
    });
  }

  /** The data of a reply, or in words why there is none. */
  private _answer(command: Command): ReplyMessage['data'] | string {
    const node = this._recording.nodes[this._state.history.current];
    switch (command.type) {
      case 'state':
        return null;
      case 'goto':
        return this._goto(command.node);
      case 'undo':
        return this._goto(nodeOf(this._state, this._state.history.current)?.parent ?? null);
      case 'redo':
        return this._goto(this._later());
      case 'source': {
        const source = node?.sources[command.kind];
        return source ? { inner: [], ...source, kind: command.kind } : t(NOT_KEPT);
      }
      case 'passes':
        return node?.passes ? ({ passes: node.passes } as ReplyMessage['data']) : t(NOT_KEPT);
      case 'compare':
        return compareRecorded(this._recording, command.a, command.b);
      case 'actions': {
        const known = node?.details?.[command.row];
        return { row: command.row, sentence: t(RECORDED), facts: [], ...known, actions: [] };
      }
      case 'file':
        return command.kind === 'session' && this._recording.file !== undefined
          ? {
              name: `${this._state.session.name}.tvmlab.json`,
              media: 'application/json',
              text: this._recording.file
            }
          : t(RECORDED);
      default:
        return node?.answers?.[keyOf(command, node.rows)] ?? this._missing(command, node);
    }
  }

  /** Why there is no answer, and where there may be one. */
  private _missing(command: Command, node: IRecordedNode | undefined): string {
    if (!KEPT.includes(command.type)) {
      return t(RECORDED);
    }
    if (node?.answers === undefined) {
      return t(NOT_KEPT);
    }
    const sizes = Object.keys(node.answers)
      .map(key => JSON.parse(key) as Partial<Record<'type' | 'sizes', unknown>>)
      .filter(({ type }) => type === 'what_if' && command.type === 'what_if')
      .map(({ sizes: wanted }) => sizesText(wanted as Record<string, number>))
      .filter(text => text !== '');
    return sizes.length === 0
      ? t('This was not kept in the recording; open its file in a kernel to ask for it.')
      : t('These sizes were not kept in the recording. Kept are %1.', sizes.join('; '));
  }

  private _goto(id: string | null): null | string {
    const node = id === null ? undefined : this._recording.nodes[id];
    if (id === null || node === undefined) {
      return t(NOT_KEPT);
    }
    const left = this._state.history.current;
    this._forward.set(nodeOf(this._state, left)?.parent ?? '', left);
    const here = nodeOf(this._state, id);
    const children = this._state.history.nodes.filter(other => other.parent === id);
    this._state = {
      ...this._state,
      revision: this._state.revision + 1,
      rows: node.rows,
      python: node.sources.python?.text ?? '',
      history: {
        ...this._state.history,
        current: id,
        can_undo: here?.parent !== null,
        can_redo: children.length > 0
      },
      measurement: measurementOf(this._recording.state, here)
    };
    this._tell({ kind: 'state', key: 'state' });
    return null;
  }

  private _later(): string | null {
    const { current, nodes } = this._state.history;
    const children = nodes.filter(node => node.parent === current).map(node => node.id);
    const last = this._forward.get(current);
    return last !== undefined && children.includes(last) ? last : (children.at(-1) ?? null);
  }

  private _tell(change: Change): void {
    for (const listener of [...this._listeners]) {
      listener(change);
    }
  }

  private readonly _recording: IRecording;
  private readonly _listeners = new Set<(change: Change) => void>();
  private readonly _forward = new Map<string, string>();
  private _state: State;
}

/** Questions of which recordings keep the answers. */
const KEPT: readonly Command['type'][] = ['flow', 'iterations', 'memory', 'attribution', 'what_if'];

/** A command as the recording names it: its fields in order, a line of the nest by its block. */
function keyOf(command: Command, rows: readonly Row[]): string {
  const fields: Partial<Command> = { ...command };
  delete fields.id;
  const asked = 'row' in fields ? { ...fields, row: blockIn(rows, fields.row) } : fields;
  return JSON.stringify(
    Object.fromEntries(Object.entries(asked).sort(([a], [b]) => (a < b ? -1 : 1)))
  );
}

/** The block that a line is, or the first one inside it. */
function blockIn(rows: readonly Row[], id: string): string {
  const at = rows.findIndex(row => row.id === id.split('.')[0]);
  return rows.slice(Math.max(at, 0)).find(({ type }) => type === 'block')?.id ?? id;
}

function sizesText(sizes: Readonly<Record<string, number>>): string {
  return Object.entries(sizes)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ');
}

function nodeOf({ history }: State, id: string): HistoryNode | undefined {
  return history.nodes.find(node => node.id === id);
}

/** The time of a state; only the state that was recorded last has its quartiles, too. */
function measurementOf(recorded: State, node: HistoryNode | undefined): State['measurement'] {
  if (node?.id === recorded.history.current) {
    return recorded.measurement;
  }
  const seconds = node?.seconds ?? null;
  const none = { lower: null, upper: null, repeats: null, gflops: null, equal: null };
  return {
    status: seconds === null ? 'none' : 'done',
    median: seconds,
    stale: false,
    message: null,
    ...none
  };
}

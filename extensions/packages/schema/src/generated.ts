/* Made from protocol.schema.json by `npm run generate`; do not edit. */

/**
 * From a view to the session
 */
export type Command =
  | ActionsCommand
  | CheckCommand
  | ApplyCommand
  | FixCommand
  | UndoCommand
  | RedoCommand
  | GotoCommand
  | CheckpointCommand
  | MeasureCommand
  | CancelCommand
  | ExploreCommand
  | LoadCommand
  | SourceCommand
  | StateCommand
  | SlotsCommand
  | MoveCommand
  | PassesCommand
  | CompareCommand
  | PickCommand
  | GainsCommand
  | MeasureGainsCommand
  | FileCommand
  | AutoCommand
  | SessionsCommand
  | MemoryCommand
  | RooflineCommand
  | MeasureMachineCommand
  | SuggestCommand
  | FlowCommand
  | IterationsCommand
  | WhatIfCommand
  | MachinesCommand
  | LearningCommand
  | AttributionCommand
  | ExerciseCommand
  | ExerciseDoCommand
  | ResidualsCommand
  | StudyCommand
  | ProofCommand
  | ProfileCommand
  | PoolCommand
  | SearchFromCommand
  | SearchTakeCommand
  | GuessCommand
  | PreferCommand;
/**
 * Parameter values by name
 */
export type Params = Record<string, Value>;
export type SourceKind = 'python' | 'loops' | 'lowered' | 'llvm' | 'asm';
/**
 * From the session to a view
 */
export type Message = StateMessage | PatchMessage | ReplyMessage;
/**
 * A parameter's value; rows are named by id
 */
export type Value = null | boolean | number | string | (number | string | null)[];

/**
 * Version 1 of what a Session and its views say to each other.
 */
export interface Protocol {
  command?: Command;
  message?: Message;
}
/**
 * Ask for a line's facts and actions
 */
export interface ActionsCommand {
  type: 'actions';
  /**
   * Comes back in the reply
   */
  id: number;
  /**
   * A line's id
   */
  row: string;
}
/**
 * Ask whether a step is legal, without taking it
 */
export interface CheckCommand {
  type: 'check';
  /**
   * Comes back in the reply
   */
  id: number;
  /**
   * A line's id
   */
  row: string;
  /**
   * The action's id
   */
  action: string;
  params: Params;
}
/**
 * Take a step
 */
export interface ApplyCommand {
  type: 'apply';
  /**
   * Comes back in the reply
   */
  id: number;
  /**
   * A line's id
   */
  row: string;
  /**
   * The action's id
   */
  action: string;
  params: Params;
}
/**
 * Take a fix that a verdict offered
 */
export interface FixCommand {
  type: 'fix';
  /**
   * Comes back in the reply
   */
  id: number;
  /**
   * From the fix
   */
  token: string;
}
/**
 * Go to the parent state
 */
export interface UndoCommand {
  type: 'undo';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Go to the child last left
 */
export interface RedoCommand {
  type: 'redo';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Show another state
 */
export interface GotoCommand {
  type: 'goto';
  /**
   * Comes back in the reply
   */
  id: number;
  /**
   * History node
   */
  node: string;
}
/**
 * Name the current state
 */
export interface CheckpointCommand {
  type: 'checkpoint';
  /**
   * Comes back in the reply
   */
  id: number;
  /**
   * Empty takes the name away
   */
  name: string;
}
/**
 * Time the current program; answered at once, the figures come as a patch
 */
export interface MeasureCommand {
  type: 'measure';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Stop measuring and exploring
 */
export interface CancelCommand {
  type: 'cancel';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Measure random schedules of this workload and train the cost model; answered at once, points come as patches
 */
export interface ExploreCommand {
  type: 'explore';
  /**
   * Comes back in the reply
   */
  id: number;
  /**
   * How many schedules
   */
  count: number;
}
/**
 * Open the schedule behind a point as a new branch of the history
 */
export interface LoadCommand {
  type: 'load';
  /**
   * Comes back in the reply
   */
  id: number;
  /**
   * The point's id
   */
  point: string;
}
/**
 * Ask for generated code
 */
export interface SourceCommand {
  type: 'source';
  /**
   * Comes back in the reply
   */
  id: number;
  kind: SourceKind;
}
/**
 * Ask for the whole state again
 */
export interface StateCommand {
  type: 'state';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Ask where a line may be dropped
 */
export interface SlotsCommand {
  type: 'slots';
  /**
   * Comes back in the reply
   */
  id: number;
  row: string;
}
/**
 * Drop a line at a place
 */
export interface MoveCommand {
  type: 'move';
  /**
   * Comes back in the reply
   */
  id: number;
  row: string;
  to: string;
  place: 'before' | 'into';
}
/**
 * Ask what each pass of lowering did
 */
export interface PassesCommand {
  type: 'passes';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Compare two states
 */
export interface CompareCommand {
  type: 'compare';
  /**
   * Comes back in the reply
   */
  id: number;
  a: string;
  b: string;
}
/**
 * Take the step of a state again on the current one
 */
export interface PickCommand {
  type: 'pick';
  /**
   * Comes back in the reply
   */
  id: number;
  node: string;
}
/**
 * Ask which step bought what
 */
export interface GainsCommand {
  type: 'gains';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Measure every state of the path, and its end without each step
 */
export interface MeasureGainsCommand {
  type: 'measure_gains';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Ask for the session as a file
 */
export interface FileCommand {
  type: 'file';
  /**
   * Comes back in the reply
   */
  id: number;
  kind: 'session' | 'html';
}
/**
 * Measure by itself after each step, or not
 */
export interface AutoCommand {
  type: 'auto';
  /**
   * Comes back in the reply
   */
  id: number;
  on: boolean;
}
/**
 * Ask which sessions the kernel has
 */
export interface SessionsCommand {
  type: 'sessions';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Ask where the accesses find their data
 */
export interface MemoryCommand {
  type: 'memory';
  /**
   * Comes back in the reply
   */
  id: number;
  caches: 'tiny' | 'machine';
  beside: string | null;
}
/**
 * Ask for the machine's ceilings and the trail of the states
 */
export interface RooflineCommand {
  type: 'roofline';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Measure the ceilings of the machine
 */
export interface MeasureMachineCommand {
  type: 'measure_machine';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Ask for the most promising next steps
 */
export interface SuggestCommand {
  type: 'suggest';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Ask for producers and consumers
 */
export interface FlowCommand {
  type: 'flow';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Ask for the iterations of a block, or of the first block in a loop
 */
export interface IterationsCommand {
  type: 'iterations';
  /**
   * Comes back in the reply
   */
  id: number;
  row: string;
  x: string | null;
  y: string | null;
  part: 'start' | 'end';
}
/**
 * Ask what the steps would do at other sizes
 */
export interface WhatIfCommand {
  type: 'what_if';
  /**
   * Comes back in the reply
   */
  id: number;
  sizes: {
    [k: string]: number;
  };
}
/**
 * Ask what the schedule is on another machine
 */
export interface MachinesCommand {
  type: 'machines';
  /**
   * Comes back in the reply
   */
  id: number;
  other: string | null;
}
/**
 * Ask how the model learns
 */
export interface LearningCommand {
  type: 'learning';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Ask why the model says what it says of this state, or of a point
 */
export interface AttributionCommand {
  type: 'attribution';
  /**
   * Comes back in the reply
   */
  id: number;
  point: string | null;
}
/**
 * Ask for the exercise
 */
export interface ExerciseCommand {
  type: 'exercise';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Check, ask for a hint, predict or see the solution
 */
export interface ExerciseDoCommand {
  type: 'exercise_do';
  /**
   * Comes back in the reply
   */
  id: number;
  what: string;
  value?: string | null;
}
/**
 * Ask which schedules were predicted wrong and what they share
 */
export interface ResidualsCommand {
  type: 'residuals';
  /**
   * Comes back in the reply
   */
  id: number;
  chosen: 'region' | 'off' | 'fast' | 'slow';
  region: number[] | null;
}
/**
 * Begin a study of the current state
 */
export interface StudyCommand {
  type: 'study';
  /**
   * Comes back in the reply
   */
  id: number;
  what: 'proof' | 'profile' | 'pool';
}
/**
 * Ask what the interpreter found
 */
export interface ProofCommand {
  type: 'proof';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Ask where the time goes
 */
export interface ProfileCommand {
  type: 'profile';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Ask how states rank on several processors
 */
export interface PoolCommand {
  type: 'pool';
  /**
   * Comes back in the reply
   */
  id: number;
}
/**
 * Search from the current state; or a command of the live view of that search
 */
export interface SearchFromCommand {
  type: 'search';
  /**
   * Comes back in the reply
   */
  id: number;
  message: {
    [k: string]: unknown;
  } | null;
}
/**
 * Make a trial of the search, by default the fastest, a branch of the history
 */
export interface SearchTakeCommand {
  type: 'search_take';
  /**
   * Comes back in the reply
   */
  id: number;
  trial: number | null;
}
/**
 * Switch guessing first on or off, or guess what waits
 */
export interface GuessCommand {
  type: 'guess';
  /**
   * Comes back in the reply
   */
  id: number;
  what: 'on' | 'off' | 'faster' | 'same' | 'slower';
  limit: string | null;
}
/**
 * How the reader likes the session; what was chosen in the view itself stays
 */
export interface PreferCommand {
  type: 'prefer';
  /**
   * Comes back in the reply
   */
  id: number;
  /**
   * Whether steps are measured by themselves, unless that was chosen already
   */
  auto: boolean;
  /**
   * Whether sentences count bytes by 1024 or by 1000
   */
  bytes: 'binary' | 'decimal';
}
/**
 * The whole state
 */
export interface StateMessage {
  type: 'state';
  state: State;
}
/**
 * All that a view shows of a session. Whatever costs time to make is asked for instead.
 */
export interface State {
  /**
   * Version of this protocol
   */
  version: 1;
  /**
   * Grows by one with each change
   */
  revision: number;
  /**
   * Which session this is
   */
  session: {
    /**
     * Unique in the kernel
     */
    id: string;
    /**
     * What people call it
     */
    name: string;
  };
  /**
   * What is computed
   */
  workload: {
    /**
     * Name of the program
     */
    name: string;
    /**
     * Sizes and types, such as '512 × 512 × 512 · float32'
     */
    summary: string;
  };
  /**
   * For what machine
   */
  target: {
    /**
     * Short name, such as cpu
     */
    name: string;
    /**
     * In words, such as 'cpu · 2 cores · AVX-512'
     */
    summary: string;
  };
  /**
   * The loop nest, line by line, outermost first
   */
  rows: Row[];
  history: History;
  /**
   * The session as a Python program
   */
  python: string;
  measurement: Measurement;
  plot: Plot;
  /**
   * What runs in the background; null or absent if nothing does
   */
  job?: Job | null;
  /**
   * Whether steps are measured by themselves
   */
  auto: boolean;
  /**
   * The steps as a notebook cell that makes this state, whatever state it is run in
   */
  cell: string;
  exercise?: ExerciseState | null;
  /**
   * Measured shares of lines, own and inclusive, of this very state; null if it was not watched
   */
  shares?: {
    [k: string]: number[];
  } | null;
  /**
   * The live view of the search that was begun here, as search.schema.json has it; null without one
   */
  search?: {
    [k: string]: unknown;
  } | null;
  /**
   * Guessing first; absent in older recordings
   */
  guess?: Guess | null;
}
/**
 * One line of the loop nest
 */
export interface Row {
  /**
   * Names this line to commands; stable while the line lives
   */
  id: string;
  /**
   * The line that encloses this one
   */
  parent: string | null;
  /**
   * How many lines enclose this one
   */
  depth: number;
  type: 'loop' | 'block' | 'buffer' | 'statement';
  /**
   * Of a loop: how it runs ('grid': over groups of threads, 'virtual': interleaved); of a statement: a named value, a call, a barrier; else the same as type
   */
  kind:
    | 'serial'
    | 'parallel'
    | 'vectorized'
    | 'unrolled'
    | 'thread'
    | 'grid'
    | 'virtual'
    | 'tensor'
    | 'block'
    | 'buffer'
    | 'let'
    | 'call'
    | 'barrier';
  /**
   * Whether a loop's iterations add into one result
   */
  reduction: boolean;
  /**
   * Name of the loop, block or buffer
   */
  name: string;
  /**
   * Iterations of a loop, where constant
   */
  extent: number | null;
  /**
   * A block: its expression after the name, such as '[i, j] += A[i, k] * B[k, j]'; a buffer: its shape and type
   */
  text: string;
  /**
   * A remark in the margin: tail, lanes, where a buffer lives
   */
  note: string | null;
  /**
   * Where a buffer lives
   */
  scope: string | null;
  /**
   * Size of a buffer
   */
  bytes: number | null;
  /**
   * Estimated shares of the whole; null where unknown
   */
  cost: Cost | null;
  /**
   * Notes that stand on the line, a few words each
   */
  marks: string[];
}
/**
 * Shares of the whole program, 0 to 1; 'own' leaves out what inner lines cost
 */
export interface Cost {
  /**
   * Arithmetic of this line and all in it
   */
  compute: number;
  /**
   * Arithmetic of this line alone
   */
  compute_own: number;
  /**
   * Bytes moved by this line and all in it
   */
  moved: number;
  /**
   * Bytes moved by this line alone
   */
  moved_own: number;
  /**
   * Estimated time of this line and all in it
   */
  time: number;
}
/**
 * The tree of states
 */
export interface History {
  /**
   * Parents before children
   */
  nodes: HistoryNode[];
  /**
   * Id of the node shown
   */
  current: string;
  can_undo: boolean;
  can_redo: boolean;
}
/**
 * One state
 */
export interface HistoryNode {
  /**
   * Names it to goto
   */
  id: string;
  /**
   * The state it was made from
   */
  parent: string | null;
  /**
   * Short, such as 'split i'
   */
  label: string;
  /**
   * The step as Python; empty for the start
   */
  code: string;
  /**
   * Name given by the user
   */
  checkpoint: string | null;
  /**
   * Measured median
   */
  seconds: number | null;
  /**
   * Against the start; null while either is unmeasured
   */
  gain: Gain | null;
  /**
   * Against the parent; null while either is unmeasured
   */
  step_gain?: Gain | null;
}
/**
 * How much faster than the state it is compared with
 */
export interface Gain {
  /**
   * Above one is faster
   */
  ratio: number;
  /**
   * Lower end from the quartiles
   */
  low: number;
  /**
   * Upper end from the quartiles
   */
  high: number;
  /**
   * noise: the step's effect lies inside the spread
   */
  kind: 'gain' | 'loss' | 'noise';
}
/**
 * The newest timing
 */
export interface Measurement {
  status: 'none' | 'queued' | 'running' | 'done' | 'failed';
  /**
   * Seconds
   */
  median: number | null;
  /**
   * First quartile, seconds
   */
  lower: number | null;
  /**
   * Third quartile, seconds
   */
  upper: number | null;
  /**
   * Number of repeats
   */
  repeats: number | null;
  /**
   * From the median
   */
  gflops: number | null;
  /**
   * Whether the program has changed since
   */
  stale: boolean;
  /**
   * Whether the result equals the unscheduled program's; null: not checked
   */
  equal: boolean | null;
  /**
   * Why it failed, or what disturbed it
   */
  message: string | null;
}
/**
 * Predicted against measured
 */
export interface Plot {
  /**
   * Of both axes
   */
  unit: string;
  points: Point[];
  /**
   * Spearman's; null below three points
   */
  rank_correlation: number | null;
  /**
   * What the model stands on, or why there is none
   */
  message?: string | null;
}
/**
 * One measured schedule
 */
export interface Point {
  /**
   * History node, if it is one
   */
  node: string | null;
  label: string;
  measured: number;
  predicted: number;
  current: boolean;
  /**
   * Names it to load; absent if it cannot be loaded
   */
  id?: string;
}
/**
 * Work in the background
 */
export interface Job {
  kind: 'measure' | 'explore' | 'machine' | 'study';
  /**
   * Such as 'measuring random schedules'
   */
  title: string;
  done: number;
  total: number;
  /**
   * What is going on, or went wrong
   */
  message: string | null;
}
/**
 * That the schedule belongs to an exercise, and when to ask for it again
 */
export interface ExerciseState {
  title: string;
  turn: number;
}
/**
 * Guessing before a measurement is shown
 */
export interface Guess {
  on: boolean;
  waiting: GuessWaiting | null;
  last: GuessAnswer | null;
  scores: GuessScore[];
}
/**
 * A measurement that waits for a guess
 */
export interface GuessWaiting {
  label: string;
  against: string;
}
/**
 * How the last guess was
 */
export interface GuessAnswer {
  words: string;
  right: boolean;
}
/**
 * How often a guess was made, and right
 */
export interface GuessScore {
  said: string;
  times: number;
  right: number;
}
/**
 * Keys of the state that changed; on a gap in the revision ask for the state
 */
export interface PatchMessage {
  type: 'patch';
  /**
   * The state's revision after it
   */
  revision: number;
  /**
   * New values by key
   */
  set: Partial<State>;
}
/**
 * The answer to one command
 */
export interface ReplyMessage {
  type: 'reply';
  /**
   * The command's id
   */
  re: number;
  ok: boolean;
  /**
   * Details, Checked or Source; a refused 'apply' carries Checked; else null
   */
  data:
    | Details
    | Checked
    | Source
    | Slots
    | Passes
    | Comparison
    | Gains
    | SessionFile
    | Sessions
    | Memory
    | Roofline
    | Suggestions
    | Flow
    | Iterations
    | WhatIf
    | Machines
    | Learning
    | Attribution
    | Exercise
    | Residuals
    | Proof
    | Profile
    | Pool
    | SearchReplied
    | SearchTaken
    | null;
  /**
   * Why not, if not ok
   */
  error: string | null;
}
/**
 * Answer to 'actions'
 */
export interface Details {
  /**
   * The line asked about
   */
  row: string;
  /**
   * What the line does, in words
   */
  sentence: string;
  facts: Fact[];
  actions: Action[];
}
/**
 * Something worth knowing of a line
 */
export interface Fact {
  label: string;
  value: string;
}
/**
 * A primitive for a line, with its verdict
 */
export interface Action {
  /**
   * Names it to check and apply, unique among the line's actions
   */
  id: string;
  /**
   * Name of the Schedule method
   */
  primitive: string;
  /**
   * The group of the menu that it stands in; members follow each other
   */
  family: string;
  /**
   * Shown
   */
  title: string;
  /**
   * The key that starts it, as the browser names it, with its modifiers before it: s, Shift+ArrowUp
   */
  key: string | null;
  /**
   * What it would do, in a few words
   */
  summary: string;
  params: Param[];
  verdict: Verdict;
}
/**
 * One parameter of a primitive
 */
export interface Param {
  name: string;
  /**
   * How it is asked for
   */
  kind: 'int' | 'factors' | 'ints' | 'choice' | 'order' | 'bool' | 'text';
  doc: string;
  default: Value;
  /**
   * For choice: the values; for order: the lines to put in order
   */
  choices: Choice[];
  /**
   * For int and factors: what is divided
   */
  extent: number | null;
  /**
   * Whether it may be left out
   */
  optional: boolean;
}
/**
 * One value that a parameter may take
 */
export interface Choice {
  /**
   * Sent back; a line is named by its id
   */
  value: string;
  /**
   * Shown
   */
  label: string;
  /**
   * Of the step that would use it
   */
  status: 'allowed' | 'refused' | 'unknown';
  /**
   * Why not; empty if allowed
   */
  reason: string;
}
/**
 * The answer of the legality service
 */
export interface Verdict {
  status: 'allowed' | 'refused' | 'unknown';
  /**
   * Id of the rule; empty if allowed
   */
  rule: string;
  /**
   * One sentence
   */
  reason: string;
  /**
   * Two iterations, or an index, that show it
   */
  witness: string | null;
  fixes: Fix[];
  /**
   * The witness by its parts, where it is two iterations
   */
  clash: Clash | null;
}
/**
 * A checked way out
 */
export interface Fix {
  /**
   * What it does
   */
  title: string;
  /**
   * Names it to the fix command
   */
  token: string;
}
/**
 * Two iterations and the element that they fight over
 */
export interface Clash {
  first: Side;
  second: Side;
  /**
   * Such as C[0, 0]
   */
  element: string;
  /**
   * For which sizes it happens, such as n=2; empty if for all
   */
  sizes: string;
}
/**
 * One of the iterations
 */
export interface Side {
  block: string;
  /**
   * Outermost first
   */
  loops: LoopValue[];
  /**
   * What it does with the element: reads, writes, updates
   */
  does: string;
}
/**
 * A loop at one of its iterations
 */
export interface LoopValue {
  name: string;
  value: number;
  /**
   * Whether the other iteration has another value
   */
  differs: boolean;
}
/**
 * Answer to 'check'
 */
export interface Checked {
  verdict: Verdict;
  /**
   * What would come of it, in words; empty if refused
   */
  summary: string;
  /**
   * The nest as it would be, changes marked; null if refused
   */
  preview: DiffLine[] | null;
}
/**
 * A line of two compared texts
 */
export interface DiffLine {
  /**
   * In both, only in the new, only in the old; … stands for lines left out
   */
  sign: ' ' | '+' | '-' | '…';
  text: string;
}
/**
 * Answer to 'source'
 */
export interface Source {
  kind: SourceKind;
  text: string;
  /**
   * Lists of lines of the nest: the own one first, then those around it
   */
  groups: string[][];
  /**
   * For each line of the text the number of its group; -1 where its origin is not known
   */
  lines: number[];
  /**
   * Share of lines (of machine code: of instructions) whose origin is known
   */
  coverage: number;
  /**
   * What is worth saying of the listing
   */
  remark: string;
  inner: InnerLoop[];
}
/**
 * An innermost loop of assembly, and what bounds it
 */
export interface InnerLoop {
  rows: string[];
  first: number;
  last: number;
  label: string;
  instructions: number;
  fma: number;
  arithmetic: number;
  loads: number;
  broadcasts: number;
  stores: number;
  spills: number;
  shuffles: number;
  flops: number;
  cycles: number;
  best_gflops: number | null;
  summary: string;
  pressure: Pressure[];
}
/**
 * Cycles of an iteration that one resource would take alone
 */
export interface Pressure {
  resource: string;
  cycles: number;
}
/**
 * Answer to slots
 */
export interface Slots {
  row: string;
  slots: Slot[];
}
/**
 * A place to drop a line at
 */
export interface Slot {
  row: string;
  /**
   * Just outside of the line, or inside the loop
   */
  place: 'before' | 'into';
  /**
   * here: nothing would change
   */
  status: 'allowed' | 'refused' | 'unknown' | 'here';
  reason: string;
  verdict: Verdict | null;
}
/**
 * Answer to passes
 */
export interface Passes {
  passes: PassReport[];
}
/**
 * What one pass did
 */
export interface PassReport {
  name: string;
  reason: string;
  changed: boolean;
  milliseconds: number;
  added: number;
  removed: number;
  diff: DiffLine[];
}
/**
 * Answer to compare
 */
export interface Comparison {
  a: string;
  b: string;
  a_label: string;
  b_label: string;
  /**
   * The last state that both come from
   */
  shared: string;
  facts: Compared[];
  gain: Gain | null;
  nest: DiffLine[];
  code: DiffLine[];
}
/**
 * Something that two states have
 */
export interface Compared {
  label: string;
  a: string;
  b: string;
}
/**
 * Answer to gains
 */
export interface Gains {
  start: number | null;
  steps: StepGain[];
  unmeasured: number;
}
/**
 * One step of the path
 */
export interface StepGain {
  node: string;
  label: string;
  seconds: number | null;
  gain: Gain | null;
  without: Without;
}
/**
 * The end of the path without one step
 */
export interface Without {
  possible: boolean;
  reason: string;
  seconds: number | null;
  worth: Gain | null;
}
/**
 * A file to keep
 */
export interface SessionFile {
  name: string;
  /**
   * Its media type
   */
  media: string;
  text: string;
}
/**
 * Answer to sessions
 */
export interface Sessions {
  sessions: SessionName[];
}
/**
 * A session of the kernel
 */
export interface SessionName {
  id: string;
  name: string;
  steps: number;
}
/**
 * Answer to memory: the accesses one after another
 */
export interface Memory {
  sample: string;
  caches: string;
  levels: CacheResult[];
  buffers: TracedBuffer[];
  buffer: number[];
  element: number[];
  write: number[];
  found: number[];
  kind: number[];
  loops: string[];
  turns: number[][];
  label: string;
  beside: Memory | null;
}
/**
 * How often a level was asked, and how that ended
 */
export interface CacheResult {
  name: string;
  accesses: number;
  hits: number;
  compulsory: number;
  capacity: number;
  conflict: number;
}
/**
 * A buffer of a trace
 */
export interface TracedBuffer {
  row: string;
  shape: number[];
  itemsize: number;
}
/**
 * Answer to roofline
 */
export interface Roofline {
  machine: string;
  compute: Ceiling[];
  memory: Ceiling[];
  points: RoofPoint[];
  unmeasured: number;
}
/**
 * A limit of the machine
 */
export interface Ceiling {
  label: string;
  rate: number;
}
/**
 * A measured state
 */
export interface RoofPoint {
  node: string;
  label: string;
  intensity: number;
  gflops: number;
  current: boolean;
  levels: LevelIntensity[];
}
/**
 * Operations for each byte that a level hands out
 */
export interface LevelIntensity {
  level: string;
  intensity: number;
}
/**
 * Answer to suggest
 */
export interface Suggestions {
  basis: string;
  tried: number;
  steps: Suggestion[];
}
/**
 * A step that may pay
 */
export interface Suggestion {
  row: string;
  action: string;
  title: string;
  line: string;
  ratio: number;
  low: number | null;
  high: number | null;
  reason: string;
  teaches: number | null;
}
/**
 * Answer to flow: who produces what for whom
 */
export interface Flow {
  nodes: FlowNode[];
  edges: FlowEdge[];
  updates: string[];
}
/**
 * A block, or a buffer between blocks
 */
export interface FlowNode {
  id: string;
  row: string | null;
  name: string;
  kind: 'input' | 'output' | 'intermediate' | 'block';
  scope: string;
  layer: number;
  bytes: number | null;
  runs: number | null;
  share: number | null;
}
/**
 * Data that goes from a buffer into a block, or out of one
 */
export interface FlowEdge {
  source: string;
  sink: string;
  touches: number | null;
  elements: number | null;
}
/**
 * Answer to iterations: the points in the order in which they run
 */
export interface Iterations {
  block: string;
  row: string;
  variables: string[];
  x: Axis;
  y: Axis;
  still: string;
  xs: number[];
  ys: number[];
  runs: boolean[];
  dependences: Dependence[];
}
/**
 * A direction of the picture of iterations
 */
export interface Axis {
  name: string;
  kind: string;
  first: number;
  count: number;
  extent: number;
  tiles: number[];
}
/**
 * Pairs of iterations at one distance that must stay in their order
 */
export interface Dependence {
  kind: 'flow' | 'anti' | 'output';
  buffer: string;
  dx: number;
  dy: number;
  pairs: number;
  source: number[];
  sink: number[];
  words: string;
}
/**
 * Answer to what_if: the same steps at other sizes
 */
export interface WhatIf {
  sizes: Size[];
  wanted: number[];
  taken: number;
  steps: number;
  refused: string;
  facts: WhatIfFact[];
  nest: DiffLine[];
}
/**
 * A size that can be changed
 */
export interface Size {
  name: string;
  value: number;
  about: string;
}
/**
 * A line of the comparison of sizes
 */
export interface WhatIfFact {
  label: string;
  now: string;
  then: string;
}
/**
 * Answer to machines: the same schedule on another machine
 */
export interface Machines {
  choices: string[];
  other: string;
  facts: MachineFact[];
  steps: StepThere[];
  flips: string[];
}
/**
 * A line of the comparison of machines
 */
export interface MachineFact {
  label: string;
  here: string;
  there: string;
}
/**
 * A step that means something else on the other machine
 */
export interface StepThere {
  node: string;
  label: string;
  note: string;
}
/**
 * Answer to learning: models of growing training sets
 */
export interface Learning {
  measured: number[];
  steps: LearningStep[];
  message: string;
}
/**
 * A model of so many measurements, and how it did on others
 */
export interface LearningStep {
  trained_on: number;
  correlation: number | null;
  error: number | null;
  found: number;
  predicted: number[];
}
/**
 * Answer to attribution: base, effects and rest sum to the score
 */
export interface Attribution {
  score: number;
  base: number;
  effects: Effect[];
  rest: number;
  gflops: number | null;
  message: string;
}
/**
 * What one feature adds to a score
 */
export interface Effect {
  feature: string;
  value: number;
  effect: number;
}
/**
 * Answer to exercise: the task and how far it is done
 */
export interface Exercise {
  title: string;
  text: string;
  goals: GoalResult[];
  stale: boolean;
  passed: boolean;
  attempts: number;
  solved: boolean;
  hints: number;
  hints_taken: number;
  hint: string;
  prediction: string;
  solution: string;
}
/**
 * A goal of an exercise as last checked
 */
export interface GoalResult {
  title: string;
  kind: string;
  met: boolean | null;
  found: string;
}
/**
 * Answer to residuals
 */
export interface Residuals {
  chosen: string;
  inside: number;
  outside: number;
  listed: Residual[];
  traits: Trait[];
  message: string;
}
/**
 * A schedule of which the model was more or less wrong
 */
export interface Residual {
  point: string;
  label: string;
  measured: number;
  predicted: number;
  ratio: number;
  opens: boolean;
}
/**
 * What schedules have in common
 */
export interface Trait {
  feature: string;
  inside: number;
  outside: number;
  share: number;
}
/**
 * Answer to proof
 */
export interface Proof {
  study: 'proof';
  known: boolean;
  failure: string;
  sizes: string;
  runs: string[];
  findings: Finding[];
  notes: string[];
}
/**
 * Something that went wrong in the interpreter
 */
export interface Finding {
  stage: 'start' | 'schedule' | 'lowered';
  rule: string;
  words: string;
  line: string;
  loops: string[];
  iterations: string[];
  row: string | null;
}
/**
 * Answer to profile
 */
export interface Profile {
  study: 'profile';
  known: boolean;
  failure: string;
  lines: LineShare[];
  counters: CounterFact[];
  samples: number;
  unknown: number;
  elsewhere: number;
  overhead: number;
  seconds: number;
  message: string;
}
/**
 * Share of the samples of a line
 */
export interface LineShare {
  row: string;
  own: number;
  inclusive: number;
}
/**
 * A counter, or why it says nothing
 */
export interface CounterFact {
  name: string;
  value: string;
  reason: string;
}
/**
 * Answer to pool
 */
export interface Pool {
  study: 'pool';
  known: boolean;
  failure: string;
  machines: string[];
  rows: PoolRow[];
  flips: string[];
  values: string[];
}
/**
 * A state on all processors
 */
export interface PoolRow {
  node: string;
  label: string;
  cells: PoolCell[];
}
/**
 * A state on one processor
 */
export interface PoolCell {
  seconds: number | null;
  lower: number | null;
  upper: number | null;
  message: string;
}
/**
 * Answer to search with a message: the reply of the search
 */
export interface SearchReplied {
  search: {
    [k: string]: unknown;
  };
}
/**
 * Answer to search_take: the name of the state
 */
export interface SearchTaken {
  taken: string;
}

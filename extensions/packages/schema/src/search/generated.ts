/* Made from search.schema.json by `npm run generate`; do not edit. */

/**
 * What a view may ask of a search.
 */
export type SearchCommand = SearchStart | SearchPause | SearchResume | SearchStop | SearchOpen;

/**
 * Version 1 of what a SearchSession and its views say to each other.
 */
export interface SearchProtocol {
  state?: SearchState;
  command?: SearchCommand;
  reply?: SearchReply;
}
/**
 * What the live view of a search shows.
 */
export interface SearchState {
  version: 1;
  revision: number;
  title: string;
  unit: string;
  measured: number;
  refused: number;
  best: number | null;
  best_seconds: number | null;
  trials: SearchTrial[];
  rank: SearchRank[];
  knobs: SearchKnob[];
  axes: SearchAxis[];
  failures: SearchFailure[];
  drift: number | null;
  status: 'ready' | 'running' | 'paused' | 'stopping' | 'done' | 'failed';
  note: string;
  wanted: number;
  rate: number | null;
  eta: number | null;
}
/**
 * One measured schedule; places are on the axes, from 0 to 1.
 */
export interface SearchTrial {
  index: number;
  status: string;
  measured: number | null;
  predicted: number | null;
  best: number;
  places: number[];
  error: string;
}
/**
 * Spearman's correlation of predictions and measurements over the first trials.
 */
export interface SearchRank {
  count: number;
  spearman: number;
}
/**
 * How much of the differences in speed a knob explains, from 0 to 1.
 */
export interface SearchKnob {
  knob: string;
  share: number;
}
/**
 * A knob as an axis.
 */
export interface SearchAxis {
  knob: string;
  share: number;
  ticks: SearchTick[];
}
/**
 * An option of a knob on its axis.
 */
export interface SearchTick {
  at: number;
  text: string;
}
/**
 * A cause of failures, how often it came, and the first one's words.
 */
export interface SearchFailure {
  status: string;
  count: number;
  error: string;
}
/**
 * Begin, or go on with so many more trials.
 */
export interface SearchStart {
  type: 'start';
  id: number;
  more: number;
}
/**
 * Measure nothing more for now.
 */
export interface SearchPause {
  type: 'pause';
  id: number;
}
/**
 * Go on after a pause.
 */
export interface SearchResume {
  type: 'resume';
  id: number;
}
/**
 * End the search.
 */
export interface SearchStop {
  type: 'stop';
  id: number;
}
/**
 * Open the schedule of a trial in a session.
 */
export interface SearchOpen {
  type: 'open';
  id: number;
  trial: number;
}
/**
 * The answer to a command.
 */
export interface SearchReply {
  type: 'reply';
  re: number;
  ok: boolean;
  data: null | SearchOpened;
  error: string | null;
}
/**
 * The session of a trial's schedule.
 */
export interface SearchOpened {
  session: string;
  name: string;
}

import type {
  Action,
  Checked,
  Details,
  Params,
  ReplyMessage,
  Row,
  SourceKind,
  State,
  Verdict
} from '@tvmlab/schema';

import { t } from './hostPage';
import type { Known } from './answers';
import type { Connection } from './model';
import type { IMoving } from './moving';

export type Tab = 'passes' | SourceKind;

/** A form that is open for one action. */
export interface IDraft {
  action: Action;
  params: Params;
  /** What a check said of these parameters; null while it runs. */
  outcome: Checked | null;
}

/** A refusal that is being explained. */
export interface IRefusal {
  title: string;
  verdict: Verdict;
}

/** What one view shows: the session's state, and what only this view knows. */
export interface IViewState {
  session: State;
  connection: Connection;
  selected: string | null;
  collapsed: ReadonlySet<string>;
  details: Details | null;
  draft: IDraft | null;
  refusal: IRefusal | null;
  tab: Tab;
  answers: Known;
  naming: boolean;
  help: boolean;
  palette: boolean;
  /** Which tab of insights is open. */
  insight: string;
  /** The states that are compared, as far as they were chosen. */
  compared: { a?: string; b?: string };
  /** Lines of the nest that the pointer's line of code comes from. */
  pointed: readonly string[];
  /** Which caches the memory view simulates. */
  caches: 'tiny' | 'machine';
  /** What was chosen in the tabs of insights, by names such as `iterations.x`. */
  choices: Readonly<Record<string, string>>;
  moving: IMoving | null;
}

/** What only the view knows. */
export type Own = Omit<IViewState, 'session' | 'connection'>;

/** What is chosen to be looked at, which nobody else needs to know. */
export type Chosen = Partial<
  Pick<Own, 'tab' | 'insight' | 'compared' | 'pointed' | 'caches' | 'choices'>
>;

/** A view that nobody has touched yet. */
export const START: Own = {
  selected: null,
  collapsed: new Set(),
  details: null,
  draft: null,
  refusal: null,
  tab: 'python',
  answers: new Map(),
  naming: false,
  help: false,
  palette: false,
  insight: '',
  compared: {},
  pointed: [],
  caches: 'tiny',
  choices: {},
  moving: null
};

/** The rows that are not hidden inside a collapsed one. */
export function visibleRows(session: State, collapsed: ReadonlySet<string>): Row[] {
  const hidden = new Set<string>();
  return session.rows.filter(row => {
    const inside = row.parent !== null && (hidden.has(row.parent) || collapsed.has(row.parent));
    if (inside) {
      hidden.add(row.id);
    }
    return !inside;
  });
}

/** The row with an id, if it is still there. */
export function rowOf(session: State, id: string | null): Row | null {
  return session.rows.find(row => row.id === id) ?? null;
}

/** A row to select when the selected one went away: the one now at its place. */
export function heirOf(before: State, after: State, selected: string | null): string | null {
  const stillThere = rowOf(after, selected);
  if (stillThere) {
    return stillThere.id;
  }
  const place = before.rows.findIndex(row => row.id === selected);
  const heir = after.rows[Math.min(Math.max(place, 0), after.rows.length - 1)];
  return heir?.id ?? null;
}

/** The verdict on what failed for a reason that no rule gave. */
export function refusedFor(reason: string): Verdict {
  return { status: 'refused', rule: '', reason, witness: null, clash: null, fixes: [] };
}

/** What a check said. What makes no step at all has no verdict, only an error that says why. */
export function checkedOf({ data, error }: ReplyMessage): Checked {
  return data !== null && 'verdict' in data
    ? data
    : { verdict: refusedFor(error ?? t('no reason was given')), summary: '', preview: null };
}

/** A measurement that begins to wait for a guess opens the tab where one guesses. */
export function askedToGuess(own: Own, before: State | null, after: State | null): Own {
  const waits = Boolean(after?.guess?.waiting) && !before?.guess?.waiting;
  return waits ? { ...own, insight: 'guess' } : own;
}

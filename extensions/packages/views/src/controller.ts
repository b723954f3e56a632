import type { Action, Params, ReplyMessage, SessionFile, State, Value } from '@tvmlab/schema';

import { t } from './hostPage';
import { Acts } from './acts';
import { newsOf } from './announcer';
import { Answers } from './answers';
import { type Request, SessionClient, STEPPING } from './client';
import type { IPreferences } from './preferences';
import { LineDetails } from './lineDetails';
import type { IViewModel } from './model';
import { Mover } from './mover';
import { questionsOf } from './questions';
import { closing, foldingOf, lineBelow } from './walking';
import {
  askedToGuess,
  type Chosen,
  heirOf,
  type IViewState,
  checkedOf,
  type Own,
  refusedFor,
  START,
  type Tab
} from './viewState';

/** How long typing may rest before the session is asked about it. */
const CHECK_AFTER_MS = 100;

/**
 * What the view can do, without a word about how it looks: selection, forms, steps, history.
 * The session owns the schedule; here is only what this one view knows besides. Every change
 * ends in `onChange`, which draws.
 */
export class Controller {
  constructor(model: IViewModel, onChange: () => void, announce: (text: string) => void) {
    this._onChange = onChange;
    this._announce = announce;
    this._client = new SessionClient(model, () => this._sessionChanged());
    this._sessionChanged();
  }

  private readonly _lines = new LineDetails({
    view: () => this.view,
    request: command => this._client.request(command),
    show: details => this._set({ details })
  });

  /** What is on its way to another nest. */
  readonly acts = new Acts();

  /** Moving lines to other places. */
  readonly mover = new Mover({
    acts: this.acts,
    view: () => this.view,
    request: command => this._client.request(command),
    show: moving => this._set({ moving }),
    refuse: (title, verdict) => this._refuse(title, verdict),
    announce: text => this._announce(text)
  });

  readonly answers = new Answers({
    request: command => this._client.request(command),
    show: answers => this._set({ answers })
  });

  /** What to draw; null until the first state has come. */
  get view(): IViewState | null {
    const session = this._client.state;
    return session === null ? null : { ...this._own, session, connection: this._client.connection };
  }

  dispose(): void {
    clearTimeout(this._checkTimer);
    this._client.dispose();
  }

  select(row: string | null): void {
    if (row !== this._own.selected) {
      this._set({ selected: row, details: null, draft: null, refusal: null });
      void this._lines.fetch();
      this._ask();
    }
  }

  /** Select the visible line so many below (or above) the selected one. */
  step(by: number): void {
    this.select(this.view && lineBelow(this.view, by));
  }

  /** Left: fold, or go to the enclosing line. Right: unfold, or go to the first inner line. */
  fold(open: boolean): void {
    const folding = this.view && foldingOf(this.view, open);
    if (folding?.collapsed) {
      this._set({ collapsed: folding.collapsed });
    } else if (folding) {
      this.select(folding.select);
    }
  }

  /** Start an action of the selected line: do it, ask for its parameters, or say why not. */
  async start(find: (action: Action) => boolean): Promise<'form' | 'done'> {
    const row = this._own.selected;
    return row === null ? 'done' : this.acts.do(() => this._start(row, find));
  }

  private async _start(row: string, find: (action: Action) => boolean): Promise<'form' | 'done'> {
    const action = (await this._lines.of(row))?.actions.find(find);
    if (action === undefined) {
      return 'done';
    }
    if (action.params.length > 0) {
      if (row !== this._own.selected) {
        return 'done'; // another line was chosen meanwhile, which has no form open
      }
      const params = Object.fromEntries(action.params.map(param => [param.name, param.default]));
      this._set({ draft: { action, params, outcome: null }, refusal: null });
      this._check();
      return 'form';
    }
    if (action.verdict.status !== 'allowed') {
      this._refuse(action.title, action.verdict);
      return 'done';
    }
    await this._apply(row, action, {});
    return 'done';
  }

  setParam(name: string, value: Value): void {
    const { draft } = this._own;
    if (draft !== null) {
      this._set({ draft: { ...draft, params: { ...draft.params, [name]: value } } });
      clearTimeout(this._checkTimer);
      this._checkTimer = setTimeout(() => this._check(), CHECK_AFTER_MS);
    }
  }

  async applyDraft(): Promise<void> {
    const { draft, selected } = this._own;
    if (draft !== null && selected !== null && !this.acts.busy) {
      await this.acts.do(() => this._apply(selected, draft.action, draft.params));
    }
  }

  /** The session as a file. */
  async file(kind: 'session' | 'html'): Promise<SessionFile | null> {
    const { data } = await this._do({ type: 'file', kind });
    return data !== null && 'media' in data ? data : null;
  }

  /** A command whose reply its asker shows. */
  async ask(request: Request): Promise<ReplyMessage> {
    return this._client.request(request);
  }

  /** Tell the session how the reader likes it, where that is not what it does anyway. */
  prefer({ autoMeasure: auto, bytes }: IPreferences): void {
    if (auto || bytes !== 'binary' || this._preferred) {
      this._preferred = true;
      void this._client.request({ type: 'prefer', auto, bytes }).then(() => {
        this.answers.forget();
        void this._lines.fetch();
        this._ask();
      });
    }
  }

  async command(request: Request): Promise<void> {
    await (STEPPING.has(request.type) ? this.acts.do(() => this._do(request)) : this._do(request));
  }

  /** Close what is open, innermost first; false if nothing was. */
  escape(): boolean {
    const closed = this.mover.cancel() ? {} : closing(this._own);
    if (closed !== null) {
      this._set(closed);
    }
    return closed !== null;
  }

  /** Take the selected line up, to move it by keys. */
  grab(): void {
    if (this._own.selected !== null) {
      this.mover.lift(this._own.selected);
    }
  }

  toggle(what: 'help' | 'palette'): void {
    this._set({ [what]: !this._own[what] });
  }

  name(naming: boolean): void {
    this._set({ naming });
  }

  showTab(tab: Tab): void {
    this.set({ tab });
  }

  private async _apply(row: string, action: Action, params: Params): Promise<void> {
    const reply = await this._client.request({ type: 'apply', row, action: action.id, params });
    if (reply.ok) {
      this._set({ draft: null, refusal: null });
    } else if (reply.data !== null && 'verdict' in reply.data) {
      this._refuse(action.title, reply.data.verdict);
    } else {
      this._fail(action.title, reply);
    }
  }

  private async _do(request: Request): Promise<ReplyMessage> {
    const reply = await this._client.request(request);
    if (reply.ok) {
      this._set({ refusal: null, naming: false });
    } else {
      this._fail(request.type, reply);
    }
    return reply;
  }

  private _fail(title: string, reply: ReplyMessage): void {
    this._refuse(title, refusedFor(reply.error ?? t('no reason was given')));
  }

  private _refuse(title: string, verdict: Action['verdict']): void {
    this._set({ draft: null, refusal: { title, verdict } });
    this._announce(t('%1 is refused: %2', title, verdict.reason));
  }

  /** Ask what would come of the form's parameters; only the newest answer counts. */
  private _check(): void {
    const { draft, selected } = this._own;
    if (draft === null || selected === null) {
      return;
    }
    const { action, params } = draft;
    void this._client
      .request({ type: 'check', row: selected, action: action.id, params })
      .then(reply => {
        const now = this._own.draft;
        if (now?.params !== params) {
          return;
        }
        this._set({ draft: { ...now, outcome: checkedOf(reply) } });
      });
  }

  /** Change what only this view knows. */
  set(change: Chosen): void {
    this._set(change);
    this._ask();
  }

  /** Ask for what is looked at now. */
  private _ask(): void {
    for (const { key, version, command } of this.view ? questionsOf(this.view) : []) {
      this.answers.ask(key, version, command);
    }
  }

  private _sessionChanged(): void {
    const before = this._before;
    const after = this._client.state;
    this._before = after;
    if (this._client.connection.state === 'gone') {
      this.acts.forget();
    }
    this._announce((before && after && newsOf(before, after)) ?? '');
    this._own = askedToGuess(this._own, before, after);
    if (after !== null && after.rows !== before?.rows) {
      const selected =
        before === null ? (after.rows[0]?.id ?? null) : heirOf(before, after, this._own.selected);
      this._own = {
        ...this._own,
        selected,
        details: null,
        draft: null,
        refusal: null,
        moving: null
      };
      void this._lines.fetch();
    }
    this._onChange();
    if (after !== null) {
      this._ask(); // after drawing, since some questions are in the units of the view
    }
  }

  private _set(change: Partial<Own>): void {
    this._own = { ...this._own, ...change };
    this._onChange();
  }

  private _own: Own = START;
  private _before: State | null = null;
  private _preferred = false;
  private _checkTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly _client: SessionClient;
  private readonly _onChange: () => void;
  private readonly _announce: (text: string) => void;
}

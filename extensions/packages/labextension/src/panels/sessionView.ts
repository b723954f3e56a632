import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Message as Message_, SessionName, State } from '@tvmlab/schema';
import { type Change, type IExplorer, marked, mountExplorer, mountNotice, t } from '@tvmlab/views';
import { type Message } from '@lumino/messaging';
import { type ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { CommModel } from '../services/commModel';
import type { KernelEvent, KernelSource } from '../services/kernelSource';

const NO_NOTEBOOK = marked('Open a notebook; this view follows the active one.');
const NO_SESSION = marked(
  'Run tl.explore(schedule) in the notebook; the session then appears here.'
);
const LOST = marked(
  'The kernel restarted, so the session is gone. Run the notebook again; the view connects by itself.'
);

/** The number of the question for all sessions; views count from far above it. */
const ASKED = 1;

/**
 * One view of the newest session of a kernel.
 *
 * It survives what happens to the kernel: a lost session stays readable and says so, and the next
 * cell that makes a session brings the view back to life.
 */
export class SessionView extends Widget {
  /** With `newest`, a newer session of the kernel replaces the one shown. */
  constructor(source: KernelSource, { newest }: { newest: boolean }) {
    super();
    this.addClass('tvmlab-SessionView');
    this._source = source;
    this._newest = newest;
    source.changed.connect(this._kernelEvent, this);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._source.dispose();
      this._candidate?.dispose();
      this._drop();
      super.dispose();
    }
  }

  /** The notebook whose session this is. */
  get notebook(): NotebookPanel | null {
    return this._source.notebook;
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this._explorer?.focus();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._connectIfNeeded();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._connectIfNeeded();
  }

  private _kernelEvent(_: KernelSource, event: KernelEvent): void {
    switch (event) {
      case 'replaced':
        this._wanted = null;
        this._notice();
        this._connectIfNeeded();
        break;
      case 'lost':
        this._wanted = null;
        this._model?.end(t(LOST));
        break;
      case 'executed':
        this._connectIfNeeded();
        break;
    }
  }

  /**
   * Look for a session, and keep what is shown until one answers.
   *
   * A hidden view does not ask: kernels that have nothing to do with tvmlab are left alone.
   */
  private _connectIfNeeded(): void {
    if (!this.isVisible || (this._live && (!this._newest || this._wanted !== null))) {
      return;
    }
    if (this._explorer === null) {
      this._notice();
    }
    this._candidate?.dispose();
    this._candidate = null;
    const kernel = this._source.kernel;
    if (kernel === null) {
      return;
    }
    const candidate = new CommModel(kernel, null);
    this._candidate = candidate;
    const stop = candidate.onChange(change => {
      if (change.kind === 'state') {
        stop();
        if (this._live && sessionId(candidate) === sessionId(this._model)) {
          candidate.dispose();
        } else {
          this._show(candidate);
        }
      } else if (change.kind === 'connection' && change.connection.state === 'gone') {
        candidate.dispose();
      }
    });
  }

  private _show(model: CommModel): void {
    this._drop();
    this._candidate = null;
    this._model = model;
    model.useOwnSubshell();
    this._explorer = mountExplorer(model, this.node);
    model.onChange(change => this._changed(model, change));
    this._stateChanged.emit();
    this._offerOthers(model);
  }

  /** The newest state of the session that is shown. */
  get state(): State | null {
    return this._state;
  }

  get stateChanged(): ISignal<this, void> {
    return this._stateChanged;
  }

  private _changed(model: CommModel, change: Change): void {
    if (model !== this._model) {
      return;
    }
    const message = change.kind === 'message' ? (change.message as Message_ | null) : null;
    if (change.kind === 'state') {
      this._state = (model.get('state') as State | undefined) ?? null;
    } else if (message?.type === 'patch' && this._state !== null) {
      this._state = { ...this._state, ...message.set, revision: message.revision };
    } else if (message?.type === 'reply' && message.re === ASKED && message.data !== null) {
      this._choose('sessions' in message.data ? message.data.sessions : []);
    } else if (change.kind === 'connection' && change.connection.state === 'gone') {
      this._state = null;
    }
    this._stateChanged.emit();
  }

  /** Where a kernel has several sessions, let the user say which to show. */
  private _offerOthers(model: CommModel): void {
    this._state = (model.get('state') as State | undefined) ?? null;
    model.send({ type: 'sessions', id: ASKED });
  }

  private _choose(sessions: readonly SessionName[]): void {
    this._chooser.remove();
    if (sessions.length < 2) {
      return;
    }
    const shown = this._state?.session.id;
    const select = document.createElement('select');
    select.setAttribute('aria-label', t('Session to show'));
    for (const { id, name, steps } of sessions) {
      const text =
        steps === 1 ? t('%1 (%2, 1 step)', name, id) : t('%1 (%2, %3 steps)', name, id, steps);
      select.add(new Option(text, id, false, id === shown));
    }
    select.addEventListener('change', () => {
      const { kernel } = this._source;
      if (kernel !== null) {
        this._wanted = select.value;
        this._show(new CommModel(kernel, select.value));
      }
    });
    this._chooser.replaceChildren(`${t('Session')} `, select);
    this.node.prepend(this._chooser);
  }

  private _notice(): void {
    this._drop();
    const text = this._source.notebook === null ? NO_NOTEBOOK : NO_SESSION;
    this._explorer = mountNotice(this.node, t('No session to show'), t(text));
  }

  private _drop(): void {
    this._chooser.remove();
    this._explorer?.dispose();
    this._explorer = null;
    this._model?.dispose();
    this._model = null;
  }

  private get _live(): boolean {
    return this._model !== null && !this._model.ended;
  }

  private readonly _source: KernelSource;
  private readonly _newest: boolean;
  private _state: State | null = null;
  private _wanted: string | null = null;
  private readonly _stateChanged = new Signal<this, void>(this);
  private readonly _chooser = Object.assign(document.createElement('div'), {
    className: 'tvmlab-chooser'
  });
  private _candidate: CommModel | null = null;
  private _model: CommModel | null = null;
  private _explorer: IExplorer | null = null;
}

function sessionId(model: CommModel | null): string | undefined {
  return (model?.get('state') as State | undefined)?.session.id;
}

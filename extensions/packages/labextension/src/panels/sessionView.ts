import type { NotebookPanel } from '@jupyterlab/notebook';
import type { State } from '@tvmlab/schema';
import { type IExplorer, mountExplorer, mountNotice } from '@tvmlab/views';
import { type Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { CommModel } from '../services/commModel';
import type { KernelEvent, KernelSource } from '../services/kernelSource';

const NO_NOTEBOOK = 'Open a notebook; this view follows the active one.';
const NO_SESSION = 'Run tl.explore(schedule) in the notebook; the session then appears here.';
const LOST =
  'The kernel restarted, so the session is gone. Run the notebook again; the view connects by itself.';

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
        this._notice();
        this._connectIfNeeded();
        break;
      case 'lost':
        this._model?.end(LOST);
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
    if (!this.isVisible || (this._live && !this._newest)) {
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
  }

  private _notice(): void {
    this._drop();
    const text = this._source.notebook === null ? NO_NOTEBOOK : NO_SESSION;
    this._explorer = mountNotice(this.node, 'No session to show', text);
  }

  private _drop(): void {
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
  private _candidate: CommModel | null = null;
  private _model: CommModel | null = null;
  private _explorer: IExplorer | null = null;
}

function sessionId(model: CommModel | null): string | undefined {
  return (model?.get('state') as State | undefined)?.session.id;
}

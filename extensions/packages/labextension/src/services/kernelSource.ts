import type { ISessionContext } from '@jupyterlab/apputils';
import { type INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

/** What happened to the kernel that a view looks at. */
export type KernelEvent =
  /** Another kernel, or none: look again. */
  | 'replaced'
  /** The same kernel has lost its memory. */
  | 'lost'
  /** A cell ran, so there may be a session now that was not there before. */
  | 'executed';

const LOST: ReadonlySet<string> = new Set(['restarting', 'autorestarting', 'terminating', 'dead']);

/**
 * The kernel of one notebook, or of whichever notebook is active.
 *
 * Hides the four signals that JupyterLab has for this behind one.
 */
export class KernelSource implements IDisposable {
  /** Follow the active notebook. */
  static ofActive(tracker: INotebookTracker): KernelSource {
    const source = new KernelSource();
    const follow = (_: unknown, panel: NotebookPanel | null): void => source._watch(panel);
    tracker.currentChanged.connect(follow, source);
    source._watch(tracker.currentWidget);
    return source;
  }

  /** Stay with one notebook. */
  static ofNotebook(panel: NotebookPanel): KernelSource {
    const source = new KernelSource();
    source._watch(panel);
    panel.disposed.connect(() => source._watch(null), source);
    return source;
  }

  private constructor() {
    NotebookActions.executed.connect(this._executed, this);
  }

  get kernel(): Kernel.IKernelConnection | null {
    return this._context?.session?.kernel ?? null;
  }

  get notebook(): NotebookPanel | null {
    return this._panel;
  }

  get changed(): ISignal<this, KernelEvent> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  private _watch(panel: NotebookPanel | null): void {
    if (panel === this._panel) {
      return;
    }
    this._context?.kernelChanged.disconnect(this._kernelChanged, this);
    this._context?.statusChanged.disconnect(this._statusChanged, this);
    this._panel = panel;
    this._context = panel?.sessionContext ?? null;
    this._context?.kernelChanged.connect(this._kernelChanged, this);
    this._context?.statusChanged.connect(this._statusChanged, this);
    this._changed.emit('replaced');
  }

  private _kernelChanged(): void {
    this._changed.emit('replaced');
  }

  private _statusChanged(_: ISessionContext, status: Kernel.Status): void {
    if (LOST.has(status)) {
      this._changed.emit('lost');
    }
  }

  private _executed(_: unknown, { notebook }: { notebook: unknown }): void {
    if (notebook === this._panel?.content) {
      this._changed.emit('executed');
    }
  }

  private _panel: NotebookPanel | null = null;
  private _context: ISessionContext | null = null;
  private readonly _changed = new Signal<this, KernelEvent>(this);
  private _isDisposed = false;
}

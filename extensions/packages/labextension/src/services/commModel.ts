import { CommsOverSubshells, type Kernel, type KernelMessage } from '@jupyterlab/services';
import type { JSONObject, JSONValue } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type Change, type IViewModel, t } from '@tvmlab/views';

import { COMM_TARGET } from '../tokens';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The five-method model over a raw comm: what the panel and the tab stand on.
 *
 * No widget manager is involved, so it works whether or not the session is also shown in a cell.
 */
export class CommModel implements IViewModel, IDisposable {
  constructor(kernel: Kernel.IKernelConnection, sessionId: string | null) {
    this._comm = kernel.createComm(COMM_TARGET);
    // JupyterLab shares a subshell among the comms of a target, and deletes it with the last one
    // even when the next is just being opened; messages of that one are then lost. So: none while
    // looking for a session, and one of its own once there is one.
    this._comm.commsOverSubshells = CommsOverSubshells.Disabled;
    this._comm.onMsg = message => this._receive(message.content.data);
    this._comm.onClose = message => this._closed(message);
    this._comm.open({ session: sessionId });
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get(key: string): unknown {
    return this._values.get(key);
  }

  set(key: string, value: unknown): void {
    this._values.set(key, value);
    this._unsaved.add(key);
  }

  save(): void {
    const values = Object.fromEntries([...this._unsaved].map(key => [key, this._values.get(key)]));
    this._unsaved.clear();
    this.send({ type: 'set', values });
  }

  onChange(listener: (change: Change) => void): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  send(message: object): void {
    if (!this._comm.isDisposed && !this._ended) {
      this._comm.send(message as JSONObject);
    }
  }

  /** Say that nothing will answer any more, for example because the kernel restarts. */
  end(reason: string): void {
    if (!this._ended) {
      this._ended = true;
      this._emit({ kind: 'connection', connection: { state: 'gone', reason } });
    }
  }

  /** Answer also while a cell runs, where the kernel can. */
  useOwnSubshell(): void {
    this._comm.commsOverSubshells = CommsOverSubshells.PerComm;
  }

  /** Whether the session has gone; a new model is needed to reach another one. */
  get ended(): boolean {
    return this._ended;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._listeners.clear();
    if (!this._comm.isDisposed && !this._ended) {
      // The kernel may have gone meanwhile; then there is nobody left to tell.
      void this._comm.close().done.catch(() => undefined);
    }
  }

  private _receive(data: JSONValue): void {
    if (isObject(data) && data['type'] === 'state') {
      this._values.set('state', data['state']);
      this._emit({ kind: 'state', key: 'state' });
    } else {
      this._emit({ kind: 'message', message: data });
    }
  }

  private _closed(message: KernelMessage.ICommCloseMsg): void {
    const { data } = message.content;
    const reason = isObject(data) ? data['reason'] : undefined;
    this.end(typeof reason === 'string' ? reason : t('The session was closed in the kernel.'));
  }

  private _emit(change: Change): void {
    for (const listener of [...this._listeners]) {
      listener(change);
    }
  }

  private readonly _comm: Kernel.IComm;
  private readonly _values = new Map<string, unknown>();
  private readonly _unsaved = new Set<string>();
  private readonly _listeners = new Set<(change: Change) => void>();
  private _isDisposed = false;
  private _ended = false;
}

import type { Command, Message, PatchMessage, ReplyMessage, State } from '@tvmlab/schema';

import type { Change, Connection, IViewModel } from './model';
import { keepSame } from './sameness';

/** A command before it has its number. */
export type Request = Command extends infer C
  ? C extends { id: number }
    ? Omit<C, 'id'>
    : never
  : never;

/** Commands after which the nest is another. */
export const STEPPING: ReadonlySet<Request['type']> = new Set([
  'undo',
  'redo',
  'goto',
  'pick',
  'load',
  'fix'
]);

/** A reply later than this means that the kernel is busy with something else. */
const BUSY_AFTER_MS = 300;

type Waiting = (reply: ReplyMessage) => void;

/**
 * The view's end of the protocol: the newest state, numbered requests with their replies, and
 * whether anybody answers.
 */
export class SessionClient {
  constructor(model: IViewModel, onChange: () => void) {
    this._model = model;
    this._onChange = onChange;
    this._state = readState(model.get('state'));
    this._connection = { state: this._state === null ? 'connecting' : 'live' };
    this._stop = model.onChange(change => this._changed(change));
    if (this._state === null) {
      void this.request({ type: 'state' });
    }
  }

  get state(): State | null {
    return this._state;
  }

  get connection(): Connection {
    return this._connection;
  }

  /**
   * Send a command; the reply comes when it comes. Once the session has gone there is none: the
   * promise then stays open, and the view says that the session has gone.
   */
  request(command: Request): Promise<ReplyMessage> {
    return new Promise(resolve => {
      if (this._connection.state === 'gone') {
        return;
      }
      this._lastId += 1;
      this._waiting.set(this._lastId, resolve);
      this._watch();
      this._model.send({ ...command, id: this._lastId });
    });
  }

  dispose(): void {
    clearTimeout(this._timer);
    this._waiting.clear();
    this._stop();
  }

  private _changed(change: Change): void {
    switch (change.kind) {
      case 'state':
        this._take(readState(this._model.get('state')));
        break;
      case 'message':
        this._receive(change.message);
        break;
      case 'connection':
        this._connect(change.connection);
        break;
    }
  }

  private _receive(value: unknown): void {
    if (!isMessage(value)) {
      return;
    }
    switch (value.type) {
      case 'state':
        this._take(value.state);
        break;
      case 'patch':
        this._patch(value);
        break;
      case 'reply':
        this._reply(value);
        break;
    }
  }

  private _take(state: State | null): void {
    // The same change may come as a trait and as a message; an older one says nothing new.
    if (state === null || (this._state !== null && state.revision < this._state.revision)) {
      return;
    }
    this._state = keepSame(this._state, state);
    if (this._connection.state === 'connecting') {
      this._connection = { state: 'live' };
    }
    this._onChange();
  }

  private _patch({ revision, set }: PatchMessage): void {
    if (this._state === null || revision > this._state.revision + 1) {
      void this.request({ type: 'state' });
    } else if (revision === this._state.revision + 1) {
      this._take({ ...this._state, ...set, revision });
    }
  }

  private _reply(reply: ReplyMessage): void {
    const waiting = this._waiting.get(reply.re);
    if (waiting === undefined) {
      return; // another view of the same model asked
    }
    this._waiting.delete(reply.re);
    this._watch();
    if (this._connection.state === 'busy' || this._connection.state === 'connecting') {
      this._connect({ state: 'live' });
    }
    waiting(reply);
  }

  /** Start the wait for the oldest reply anew, or end it when none is due. */
  private _watch(): void {
    clearTimeout(this._timer);
    if (this._waiting.size > 0) {
      this._timer = setTimeout(() => {
        if (this._connection.state === 'live') {
          this._connect({ state: 'busy' });
        }
      }, BUSY_AFTER_MS);
    }
  }

  private _connect(connection: Connection): void {
    if (this._connection.state === 'gone' && connection.state !== 'live') {
      return;
    }
    this._connection = connection;
    if (connection.state === 'gone') {
      clearTimeout(this._timer);
      this._waiting.clear();
    }
    this._onChange();
  }

  private _state: State | null;
  private _connection: Connection;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts from a random start, so that two views of one model tell their replies apart. */
  private _lastId = Math.floor(Math.random() * 1e9) * 1000;
  private readonly _model: IViewModel;
  private readonly _onChange: () => void;
  private readonly _waiting = new Map<number, Waiting>();
  private readonly _stop: () => void;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The session validates what it sends; here only the envelope is looked at. */
function isMessage(value: unknown): value is Message {
  return isRecord(value) && ['state', 'patch', 'reply'].includes(String(value['type']));
}

function readState(value: unknown): State | null {
  return isRecord(value) && value['version'] === 1 ? (value as unknown as State) : null;
}

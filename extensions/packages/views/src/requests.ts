import type { Change, Connection, IViewModel } from './model';

/** A command before it has its number. */
export type Unnumbered<C> = C extends { id: number } ? Omit<C, 'id'> : never;

interface IReply {
  type: 'reply';
  re: number;
}

/** A view's end of a small protocol: the newest state, and requests with their replies. */
export class Requests<State extends { version: unknown }, Command, Reply extends IReply> {
  /** The state is the value of `key` in the model. */
  constructor(
    private readonly _model: IViewModel,
    private readonly _key: string,
    private readonly _onChange: () => void
  ) {
    this._stop = _model.onChange(change => this._changed(change));
  }

  get state(): State | null {
    const value = this._model.get(this._key) as State | null | undefined;
    return value?.version === 1 ? value : null;
  }

  get connection(): Connection {
    return this._connection;
  }

  /** Send a command; once the kernel has gone the promise stays open, and the view says so. */
  request(command: Unnumbered<Command>): Promise<Reply> {
    return new Promise(resolve => {
      this._lastId += 1;
      this._waiting.set(this._lastId, resolve);
      this._model.send({ ...command, id: this._lastId });
    });
  }

  dispose(): void {
    this._waiting.clear();
    this._stop();
  }

  private _changed(change: Change): void {
    if (change.kind === 'message') {
      const reply = change.message as Partial<Reply> | null;
      const waiting = reply?.type === 'reply' ? this._waiting.get(reply.re ?? -1) : undefined;
      if (waiting !== undefined) {
        this._waiting.delete(reply?.re ?? -1);
        waiting(reply as Reply);
      }
      return;
    }
    if (change.kind === 'connection') {
      this._connection = change.connection;
    }
    this._onChange();
  }

  private _connection: Connection = { state: 'live' };
  /** Counts from a random start, so that two views of one model tell their replies apart. */
  private _lastId = Math.floor(Math.random() * 1e9) * 1000;
  private readonly _waiting = new Map<number, (reply: Reply) => void>();
  private readonly _stop: () => void;
}

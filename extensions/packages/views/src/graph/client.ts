import type { GraphCommand, GraphReply, GraphState } from '@tvmlab/schema';

import type { Change, Connection, IViewModel } from '../model';

/** A command before it has its number. */
export type GraphRequest = GraphCommand extends infer C
  ? C extends { id: number }
    ? Omit<C, 'id'>
    : never
  : never;

/** The view's end of the protocol of graphs: the newest state, and requests with their replies. */
export class GraphClient {
  constructor(model: IViewModel, onChange: () => void) {
    this._model = model;
    this._onChange = onChange;
    this._stop = model.onChange(change => this._changed(change));
  }

  get state(): GraphState | null {
    const value = this._model.get('graph') as GraphState | null | undefined;
    return (value?.version as number | undefined) === 1 ? (value ?? null) : null;
  }

  get connection(): Connection {
    return this._connection;
  }

  /** Send a command; once the kernel has gone the promise stays open, and the view says so. */
  request(command: GraphRequest): Promise<GraphReply> {
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
      const reply = change.message as Partial<GraphReply> | null;
      const waiting = reply?.type === 'reply' ? this._waiting.get(reply.re ?? -1) : undefined;
      if (waiting !== undefined) {
        this._waiting.delete(reply?.re ?? -1);
        waiting(reply as GraphReply);
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
  private readonly _model: IViewModel;
  private readonly _onChange: () => void;
  private readonly _waiting = new Map<number, (reply: GraphReply) => void>();
  private readonly _stop: () => void;
}

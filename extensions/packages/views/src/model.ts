/**
 * What a view knows of the world: five methods. Behind them stands an anywidget model in a cell, a
 * comm in the side panel, or a recording in an offline page; a view cannot tell which.
 */

/** How the session behind the model is doing. */
export type Connection =
  | { state: 'connecting' }
  | { state: 'live' }
  /** A reply is overdue: the kernel runs something else. */
  | { state: 'busy' }
  /** Nothing will answer any more; the reason says how to get back. */
  | { state: 'gone'; reason: string };

/** What a model tells its listeners. */
export type Change =
  | { kind: 'state'; key: string }
  | { kind: 'message'; message: unknown }
  | { kind: 'connection'; connection: Connection };

export interface IViewModel {
  /** The newest value of a shared key, for example `state`. */
  get(key: string): unknown;
  /** Write a shared key here; nobody sees it before `save`. */
  set(key: string, value: unknown): void;
  /** Send what was set to the session. */
  save(): void;
  /** Hear of state, messages and connection; call the result to stop. */
  onChange(listener: (change: Change) => void): () => void;
  /** Send one message to the session. */
  send(message: object): void;
}

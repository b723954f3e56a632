import type { GraphInner } from '@tvmlab/schema';

import type { Change, IViewModel } from '../model';

/** The session of one kernel's schedule, reached through the model of the graph around it. */
export class InnerModel implements IViewModel {
  constructor(
    private readonly _outer: IViewModel,
    private readonly _session: string
  ) {}

  /** The state comes as a message, when it is asked for. */
  get(key: string): unknown {
    return this._values.get(key) ?? null;
  }

  set(key: string, value: unknown): void {
    this._values.set(key, value);
  }

  save(): void {
    // Nothing of this view is shared beside its messages.
  }

  send(message: object): void {
    this._outer.send({ type: 'inner', session: this._session, message });
  }

  onChange(listener: (change: Change) => void): () => void {
    return this._outer.onChange(change => {
      if (change.kind === 'connection') {
        listener(change);
      } else if (change.kind === 'message') {
        const inner = change.message as Partial<GraphInner> | null;
        if (inner?.type === 'inner' && inner.session === this._session) {
          listener({ kind: 'message', message: inner.message });
        }
      }
    });
  }

  private readonly _values = new Map<string, unknown>();
}

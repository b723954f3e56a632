import type { Command, Details, ReplyMessage, State } from '@tvmlab/schema';

import type { Change, IViewModel } from '../src/model';
import { details, REDUCTION_PARALLEL } from './fixture';

/** A model with a session made of answers: what it is asked is kept, and it can be silent. */
export class MockModel implements IViewModel {
  constructor(state: State | null) {
    this._values.set('state', state);
  }

  /** Commands in the order they came. */
  readonly asked: Command[] = [];
  /** Whether commands get no answer, as while the kernel is busy. */
  silent = false;
  /** Answers instead of the usual ones, by command. */
  readonly answers = new Map<Command['type'], Partial<ReplyMessage>>();

  get(key: string): unknown {
    return this._values.get(key);
  }

  set(key: string, value: unknown): void {
    this._values.set(key, value);
  }

  save(): void {
    this.emit({ kind: 'state', key: 'state' });
  }

  onChange(listener: (change: Change) => void): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  send(message: object): void {
    const command = message as Command;
    this.asked.push(command);
    if (!this.silent) {
      void Promise.resolve().then(() => this.answer(command));
    }
  }

  answer(command: Command): void {
    const usual: ReplyMessage = {
      type: 'reply',
      re: command.id,
      ok: true,
      data: reply(command),
      error: null
    };
    this.emit({
      kind: 'message',
      message: { ...usual, ...this.answers.get(command.type), re: command.id }
    });
  }

  emit(change: Change): void {
    for (const listener of [...this._listeners]) {
      listener(change);
    }
  }

  /** The session moves on. */
  update(change: Partial<State>): void {
    const state = this._values.get('state') as State;
    this.set('state', { ...state, ...change, revision: state.revision + 1 });
    this.save();
  }

  private readonly _values = new Map<string, unknown>();
  private readonly _listeners = new Set<(change: Change) => void>();
}

function reply(command: Command): ReplyMessage['data'] {
  switch (command.type) {
    case 'actions':
      return details(command.row) satisfies Details;
    case 'check':
      return command.action === 'parallel'
        ? { verdict: REDUCTION_PARALLEL, summary: '' }
        : {
            verdict: {
              status: 'allowed',
              rule: '',
              reason: '',
              witness: null,
              clash: null,
              fixes: []
            },
            summary: '96 × 4, no tail'
          };
    case 'source':
      return { kind: command.kind, text: `; ${command.kind} of this program\nret i32 0` };
    default:
      return null;
  }
}

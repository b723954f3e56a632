import type { Command, Details, DiffLine, ReplyMessage, Slot, State } from '@tvmlab/schema';

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

const PREVIEW = [
  { sign: ' ', text: 'P for i_outer in parallel(86)' },
  { sign: '-', text: 'R   for k_inner in range(384)' },
  { sign: '+', text: 'R   for k_inner_outer in range(96)' },
  { sign: '+', text: 'R     for k_inner_inner in range(4)' }
] satisfies DiffLine[];

const SLOTS = [
  {
    row: 'L0',
    place: 'before',
    status: 'refused',
    reason: 'cannot reorder: not below a vectorized loop',
    verdict: null
  },
  {
    row: 'L1',
    place: 'before',
    status: 'allowed',
    reason: 'k_inner may go outside of k_outer',
    verdict: null
  },
  { row: 'L4', place: 'before', status: 'here', reason: 'it is here already', verdict: null },
  {
    row: 'L5',
    place: 'before',
    status: 'unknown',
    reason: 'it could not be decided',
    verdict: null
  }
] satisfies Slot[];

function reply(command: Command): ReplyMessage['data'] {
  switch (command.type) {
    case 'actions':
      return details(command.row) satisfies Details;
    case 'check':
      return command.action === 'parallel'
        ? { verdict: REDUCTION_PARALLEL, summary: '', preview: null }
        : {
            verdict: {
              status: 'allowed',
              rule: '',
              reason: '',
              witness: null,
              clash: null,
              fixes: []
            },
            summary: '96 × 4, no tail',
            preview: PREVIEW
          };
    case 'slots':
      return { row: command.row, slots: SLOTS };
    case 'source':
      return {
        kind: command.kind,
        text: `; ${command.kind} of this program\nret i32 0`,
        groups: [['L4', 'L1', 'L0']],
        lines: [-1, 0],
        coverage: 0.5,
        remark: '',
        inner: []
      };
    default:
      return null;
  }
}

import type { GraphCommand, GraphReply, GraphRow, GraphState } from '@tvmlab/schema';

import type { Change, IViewModel } from '../src/model';

/** A kernel of a chain, as the session writes it. */
function row(number: number, more: Partial<GraphRow> = {}): GraphRow {
  const name = `conv${number}`;
  return {
    id: String(number),
    name: `${name} (+1)`,
    kernel: `conv_relu_${number}`,
    kind: 'complex',
    ops: ['conv', 'relu'],
    nodes: [
      { name, op: 'conv', attrs: 'pads [1, 1]', type: 'float32[1, 8, 32, 32]' },
      { name: `relu${number}`, op: 'relu', attrs: '', type: 'float32[1, 8, 32, 32]' }
    ],
    inputs: [
      {
        name: number === 0 ? 'image' : `relu${number - 1}`,
        type: 'float32[1, 8, 32, 32]',
        role: number === 0 ? 'input' : 'value',
        row: number === 0 ? '' : String(number - 1)
      }
    ],
    outputs: [
      { name: `relu${number}`, type: 'float32[1, 8, 32, 32]', role: 'value', row: String(number) }
    ],
    readers: [String(number + 1)],
    lanes: { column: 0, into: number === 0 ? [] : [0], through: [], out: true },
    flops: 1e6,
    nbytes: 65536,
    schedule: 'default',
    fused: 'relu joined onto the output of conv',
    ends: 'a kernel has one reduction',
    time: null,
    ...more
  };
}

/** The state of a chain of convolutions that ends in a softmax. */
export function graphState(count: number): GraphState {
  const rows = Array.from({ length: count - 1 }, (_, number) => row(number));
  rows.push(row(count - 1, { name: 'softmax', kind: 'reduction', ops: ['softmax'], readers: [] }));
  return {
    version: 1,
    revision: 0,
    graph: {
      id: 'g1',
      name: 'chain',
      target: 'znver4, 2 threads',
      inputs: ['image: float32[1, 8, 32, 32]'],
      outputs: ['out: float32[1, 8, 32, 32]'],
      parameter_bytes: 4096,
      workspace: 65536,
      nodes: 2 * count,
      seconds: null
    },
    rows,
    passes: [
      {
        name: 'fold_norm',
        title: 'put norms into weights',
        before: 9,
        after: 6,
        changed: true,
        summary: '−3 batch_norm'
      },
      {
        name: 'simplify',
        title: 'rewrite by algebra',
        before: 6,
        after: 6,
        changed: false,
        summary: 'nothing to do'
      }
    ],
    pins: 0,
    job: null,
    note: ''
  };
}

interface IInner {
  type: 'inner';
  session: string;
  message: { type: string; id: number };
}

/** A model whose graph session answers at once; what it is asked is kept. */
export class MockGraph implements IViewModel {
  constructor(private _state: GraphState) {}

  readonly asked: GraphCommand[] = [];
  readonly inner: IInner[] = [];

  get(key: string): unknown {
    return key === 'graph' ? this._state : null;
  }

  set(): void {
    // Nothing is shared from the view.
  }

  save(): void {
    // Nothing is shared from the view.
  }

  onChange(listener: (change: Change) => void): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  send(message: object): void {
    const sent = message as GraphCommand | IInner;
    if (sent.type === 'inner') {
      this.inner.push(sent);
      return;
    }
    this.asked.push(sent);
    const data: GraphReply['data'] =
      sent.type === 'open'
        ? { session: 's7', name: 'conv' }
        : sent.type === 'pass'
          ? { lines: [{ sign: '-', text: 'norm = batch_norm(x)' }] }
          : null;
    const reply: GraphReply = { type: 'reply', re: sent.id, ok: true, data, error: null };
    void Promise.resolve().then(() => this.emit({ kind: 'message', message: reply }));
  }

  update(change: Partial<GraphState>): void {
    this._state = { ...this._state, ...change, revision: this._state.revision + 1 };
    this.emit({ kind: 'state', key: 'graph' });
  }

  emit(change: Change): void {
    this._listeners.forEach(listener => listener(change));
  }

  private readonly _listeners = new Set<(change: Change) => void>();
}

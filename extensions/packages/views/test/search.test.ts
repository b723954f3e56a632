import type { SearchState, SearchTrial } from '@tvmlab/schema';
import { beforeEach, expect, it } from 'vitest';

import type { Change, IViewModel } from '../src/model';
import { duration } from '../src/search/head';
import { mountSearch } from '../src/search/search';

function trial(index: number, measured: number | null, best: number): SearchTrial {
  return {
    index,
    status: measured === null ? 'crash' : 'ok',
    measured,
    predicted: index > 1 ? 90 : null,
    best,
    places: [index / 4],
    error: measured === null ? 'the worker crashed with SIGSEGV' : ''
  };
}

function state(change: Partial<SearchState> = {}): SearchState {
  return {
    version: 1,
    revision: 1,
    title: 'mm',
    unit: 'GFLOP/s',
    measured: 4,
    refused: 1,
    best: 2,
    best_seconds: 2e-3,
    trials: [trial(0, 50, 50), trial(1, null, 50), trial(2, 120, 120), trial(3, 80, 120)],
    rank: [{ count: 4, spearman: 0.5 }],
    knobs: [{ knob: 'i', share: 0.6 }],
    axes: [{ knob: 'i', share: 0.6, ticks: [{ at: 0, text: '1' }] }],
    failures: [{ status: 'crash', count: 1, error: '<b>SIGSEGV</b>' }],
    drift: null,
    status: 'running',
    note: '',
    wanted: 10,
    rate: 8,
    eta: 3,
    ...change
  };
}

class Model implements IViewModel {
  sent: Record<string, unknown>[] = [];
  value = state();
  private _tell: (change: Change) => void = () => undefined;

  get(key: string): unknown {
    return key === 'search' ? this.value : null;
  }

  set(): void {
    // The view shares nothing.
  }

  save(): void {
    // The view shares nothing.
  }

  send(message: object): void {
    this.sent.push(message as Record<string, unknown>);
  }

  onChange(listener: (change: Change) => void): () => void {
    this._tell = listener;
    return () => undefined;
  }

  become(change: Partial<SearchState>): void {
    this.value = state({ revision: this.value.revision + 1, ...change });
    this._tell({ kind: 'state', key: 'search' });
  }

  reply(error: string): void {
    const re = this.sent.at(-1)?.['id'];
    this._tell({
      kind: 'message',
      message: { type: 'reply', re, ok: false, data: null, error }
    });
  }
}

let model: Model;
let root: HTMLElement;

beforeEach(() => {
  document.body.replaceChildren();
  model = new Model();
  root = document.createElement('div');
  document.body.append(root);
  mountSearch(model, root);
});

function button(name: string): HTMLButtonElement {
  const found = [...root.querySelectorAll('button')].find(b => b.textContent === name);
  if (found === undefined) {
    throw new Error(`no button ${name}`);
  }
  return found;
}

it('shows each trial, the best so far, and causes of failure as text', () => {
  const [progress, predictions] = root.querySelectorAll('.tvmlab-search-plots > section');
  expect(progress?.querySelectorAll('circle').length).toBe(4);
  expect(progress?.querySelectorAll('.tvmlab-now').length).toBe(1);
  expect(predictions?.querySelectorAll('circle').length).toBe(2);
  expect(root.querySelectorAll('.tvmlab-way').length).toBe(3);
  expect(root.textContent).toContain('1 × crash first: <b>SIGSEGV</b>');
  expect(root.textContent).toContain('3 s left');
});

it('is paused, goes on and stops by buttons that follow the state', () => {
  button('Pause').click();
  expect(model.sent.at(-1)).toMatchObject({ type: 'pause' });
  model.become({ status: 'paused' });
  button('Resume').click();
  expect(model.sent.at(-1)).toMatchObject({ type: 'resume' });
  button('Stop').click();
  expect(model.sent.at(-1)).toMatchObject({ type: 'stop' });
  model.become({ status: 'done', note: 'Stopped.' });
  button('100 more').click();
  expect(model.sent.at(-1)).toMatchObject({ type: 'start', more: 100 });
  expect(root.querySelector('[role=status]')?.textContent).toBe('Stopped.');
});

it('reads points by keys, opens one, and says why it cannot be opened', async () => {
  const chart = root.querySelector('.tvmlab-search-plots svg');
  const key = (name: string): void => {
    chart?.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
  };
  key('ArrowRight');
  key('ArrowRight');
  expect(root.querySelector('.tvmlab-readout')?.textContent).toBe(
    'Trial 2: crash: the worker crashed with SIGSEGV'
  );
  key('Enter');
  expect(model.sent.at(-1)).toMatchObject({ type: 'open', trial: 1 });
  model.reply('its steps no longer fit');
  await Promise.resolve();
  await Promise.resolve();
  expect(root.querySelector('[role=status]')?.textContent).toBe('its steps no longer fit');
});

it('keeps what is read while new trials come in', () => {
  const ways = root.querySelector('.tvmlab-coordinates svg');
  ways?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
  expect(root.querySelector('.tvmlab-coordinates .tvmlab-readout')?.textContent).toContain(
    'Trial 3: measured 120 GFLOP/s'
  );
  const chart = root.querySelector('.tvmlab-search-plots svg');
  chart?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
  model.become({ trials: [...state().trials, trial(4, 130, 130)], best: 4 });
  expect(root.querySelector('.tvmlab-readout')?.textContent).toContain('Trial 1');
});

it('tells times as people do', () => {
  expect([duration(12.2), duration(600), duration(9000)]).toEqual(['13 s', '10 min', '2.5 h']);
});

import type { Flow, Iterations, ReplyMessage } from '@tvmlab/schema';
import { describe, expect, it } from 'vitest';

import { all, asked, field, find, page, settle, useExplorer } from './harness';

useExplorer();

const FLOW = {
  nodes: [
    { id: 'T0', row: null, name: 'A', kind: 'input', scope: 'global', layer: 0 },
    { id: 'B0', row: 'B0', name: 'C', kind: 'block', scope: 'inside k', layer: 1 },
    { id: 'T1', row: 'B0', name: 'C', kind: 'output', scope: 'global', layer: 2 }
  ].map(node => ({ bytes: 4096, runs: 17_301_504, share: 0.5, ...node }) as Flow['nodes'][number]),
  edges: [
    { source: 'T0', sink: 'B0', touches: 64, elements: 16 },
    { source: 'B0', sink: 'T1', touches: null, elements: null }
  ],
  updates: ['B0']
} satisfies Flow;

const ITERATIONS = {
  block: 'C',
  row: 'B0',
  variables: ['vi', 'vk'],
  x: { name: 'vk', kind: 'reduce', first: 0, count: 2, extent: 2, tiles: [] },
  y: { name: 'vi', kind: 'spatial', first: 0, count: 3, extent: 2, tiles: [2] },
  still: '',
  xs: [0, 1, 0, 1, 0, 1],
  ys: [0, 0, 1, 1, 2, 2],
  runs: [true, true, true, true, false, false],
  dependences: [
    {
      kind: 'flow',
      buffer: 'C',
      dx: 1,
      dy: 0,
      pairs: 2,
      source: [0, 0],
      sink: [1, 0],
      words: 'vi=0, vk=1 reads what the other wrote in C, at vi=0, vk=0'
    }
  ]
} satisfies Iterations;

async function open(tab: string, data: ReplyMessage['data'], error: string | null = null) {
  page.model.answers.set(tab as 'flow', { data, error, ok: error === null });
  find(`[data-insight="${tab}"]`).click();
  await settle();
}

function slide(to: number): string {
  const slider = field('.tvmlab-scrub input');
  slider.value = String(to);
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  return slider.getAttribute('aria-valuetext') ?? '';
}

describe('the flow of data', () => {
  it('has a button for each block and buffer, and lines between them', async () => {
    await open('flow', FLOW);
    const labels = all('.tvmlab-flow-node').map(node => node.getAttribute('aria-label'));
    expect(labels).toEqual([
      'input A, input · 4 KB',
      'block C, 50% · runs 17.3M×',
      'output C, output · 4 KB'
    ]);
    expect(all('.tvmlab-flow path')).toHaveLength(2);
    expect(find('.tvmlab-insight tbody').textContent).toContain('4.0×');
  });
});

describe('iterations', () => {
  it('are asked for the selected line and shown in their order', async () => {
    await open('iterations', ITERATIONS);
    expect(asked('iterations')).toMatchObject([{ part: 'start', x: null, y: null }]);
    expect(all('.tvmlab-iteration')).toHaveLength(6);
    expect(all('.tvmlab-iteration.tvmlab-empty')).toHaveLength(2);
    expect(slide(1)).toBe('2 of 6: vi=0, vk=1');
    expect(all('.tvmlab-iteration.tvmlab-done')).toHaveLength(2);
    expect(all('.tvmlab-need-flow')).toHaveLength(1);
    expect(slide(2)).toBe('3 of 6: vi=1, vk=0');
    expect(all('.tvmlab-need-flow')).toHaveLength(0);
    expect(slide(5)).toContain('lies beyond the domain');
  });

  it('marks tiles and the end of the domain, and takes other axes', async () => {
    await open('iterations', ITERATIONS);
    expect(all('.tvmlab-tile')).toHaveLength(1);
    expect(all('.tvmlab-domain-end')).toHaveLength(1);
    const across = find('[data-set="iterations.x"]') as HTMLSelectElement;
    across.value = 'vi';
    across.dispatchEvent(new Event('change', { bubbles: true }));
    await settle();
    expect(asked('iterations').at(-1)).toMatchObject({ x: 'vi' });
  });

  it('offers to start again where the choice does not fit', async () => {
    await open('iterations', null, 'D has no iteration variable');
    expect(find('.tvmlab-insight').textContent).toContain('D has no iteration variable');
    find('[data-reset]').click();
    await settle();
    expect(page.host.textContent).toContain('D has no iteration variable');
  });
});

const answer = {
  whatIf: {
    sizes: [{ name: 'i', value: 128, about: 'A dim 0' }],
    wanted: [100],
    taken: 1,
    steps: 2,
    refused: 'peel i: there are not so many',
    facts: [{ label: 'operations', now: '8', then: '6' }],
    nest: [{ sign: '+', text: 'S for i in range(100)' }]
  },
  machines: {
    choices: ['AVX2 desktop', 'RISC-V board'],
    other: 'AVX2 desktop',
    facts: [{ label: 'float32 lanes', here: '16', there: '8' }],
    steps: [{ node: '3', label: 'parallel i', note: 'there is one thread' }],
    flips: []
  },
  attribution: {
    score: 0.5,
    base: 0.25,
    effects: [{ feature: 'main: lanes', value: 16, effect: 0.5 }],
    rest: -0.25,
    gflops: 7.1,
    message: ''
  },
  learning: {
    measured: [1, 2, 4],
    steps: [
      { trained_on: 8, correlation: null, error: 2, found: 0.5, predicted: [2, 2, 2] },
      { trained_on: 16, correlation: 0.9, error: 1.2, found: 1, predicted: [1, 2, 5] }
    ],
    message: ''
  }
} satisfies Record<string, ReplyMessage['data']>;

describe('other sizes', () => {
  it('are asked for as they are typed, and say which step does not work', async () => {
    page.model.answers.set('what_if', { data: answer.whatIf });
    await open('what-if', null);
    const size = field('[data-set="what-if.i"]');
    size.value = '100';
    size.dispatchEvent(new Event('change', { bubbles: true }));
    await settle();
    expect(asked('what_if').at(-1)).toMatchObject({ sizes: { i: 100 } });
    expect(find('.tvmlab-insight').textContent).toContain('1 of 2 steps work');
    expect(find('.tvmlab-diff').textContent).toContain('for i in range(100)');
  });
});

describe('another machine', () => {
  it('stands beside this one, with the steps that do nothing there', async () => {
    await open('machines', answer.machines);
    expect(find('.tvmlab-insight tbody').textContent).toContain('float32 lanes168');
    find('.tvmlab-there [data-node]').click();
    expect(asked('goto')).toMatchObject([{ node: '3' }]);
    const other = find('[data-set="machines.other"]') as HTMLSelectElement;
    other.value = 'RISC-V board';
    other.dispatchEvent(new Event('change', { bubbles: true }));
    await settle();
    expect(asked('machines').at(-1)).toMatchObject({ other: 'RISC-V board' });
  });
});

describe('the model', () => {
  it('tells the parts of a prediction', async () => {
    page.model.answers.set('attribution', { data: answer.attribution });
    await open('why', null);
    expect(all('.tvmlab-effects tbody tr').map(row => row.textContent)).toEqual([
      'of any schedule+0.25',
      'main: lanes16.0+0.50',
      'all other features−0.25'
    ]);
  });

  it('is scrubbed through the size of its training set', async () => {
    await open('learning', answer.learning);
    expect(slide(0)).toContain('Trained on 8: no order on 3 others');
    expect(slide(1)).toContain('rank correlation 0.90');
    expect(all('.tvmlab-learned circle')).toHaveLength(3);
  });
});

describe('the margin of the nest', () => {
  it('shows the chosen cost on the chosen scale', async () => {
    const figure = (): string => all('.tvmlab-pc').at(-1)?.textContent ?? '';
    const width = (): string => find('.tvmlab-bar i').getAttribute('style') ?? '';
    const before = [figure(), width()];
    for (const [name, value] of [
      ['cost.metric', 'moved_own'],
      ['cost.scale', 'log']
    ]) {
      const select = find(`[data-set="${name ?? ''}"]`) as HTMLSelectElement;
      select.value = value ?? '';
      select.dispatchEvent(new Event('change', { bubbles: true }));
      await settle();
    }
    expect(figure()).not.toBe(before[0]);
    expect((find('[data-set="cost.scale"]') as HTMLSelectElement).value).toBe('log');
    expect(before[1]).toContain('width');
  });
});

const EXERCISE = {
  title: 'Walk along rows',
  text: 'Put the loops in another order.',
  goals: [
    { title: 'j is innermost', kind: 'structure', met: false, found: 'k is' },
    { title: 'fewer misses', kind: 'traffic', met: null, found: '' }
  ],
  stale: true,
  passed: false,
  attempts: 1,
  solved: false,
  hints: 3,
  hints_taken: 1,
  hint: 'Hint 1 of 3: look at the inner loop',
  prediction: '',
  solution: ''
} satisfies ReplyMessage['data'];

describe('an exercise', () => {
  const tab = (): HTMLElement => find('[data-insight="exercise"]');

  it('has its tab only where there is one', () => {
    expect(tab().hidden).toBe(true);
    expect(find('[data-insight="model"]').getAttribute('aria-selected')).toBe('true');
  });

  it('shows goals with signs and words, and what was said', async () => {
    page.model.answers.set('exercise', { data: EXERCISE });
    page.model.update({ exercise: { title: 'Walk along rows', turn: 1 } });
    await settle();
    expect(tab().hidden).toBe(false);
    expect(tab().getAttribute('aria-selected')).toBe('true');
    expect(all('.tvmlab-goals li').map(goal => goal.textContent)).toEqual([
      '✗ not met: j is innermost · k is',
      '· not checked: fewer misses'
    ]);
    expect(find('.tvmlab-insight').textContent).toContain('check again');
    expect(find('.tvmlab-said').textContent).toContain('look at the inner loop');
    find('[data-exercise="check"]').click();
    find('[data-guess="same"]').click();
    expect(asked('exercise_do')).toMatchObject([
      { what: 'check', value: null },
      { what: 'predict', value: 'same' }
    ]);
  });
});

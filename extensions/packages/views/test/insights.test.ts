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

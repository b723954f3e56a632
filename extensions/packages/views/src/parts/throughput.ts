import type { InnerLoop, Source } from '@tvmlab/schema';

import { h } from '../dom';
import { digits, rate } from '../format';

/**
 * What the innermost loop of the selected line does in each iteration, and what bounds it.
 *
 * The line is given with those around it, innermost first: a statement has the loop that it is in.
 */
export function throughput({ inner }: Source, around: readonly string[]): HTMLElement[] {
  const [selected] = around;
  const inside = inner.filter(({ rows }) => selected !== undefined && rows.includes(selected));
  const outside = around
    .map(row => inner.find(({ rows }) => rows[0] === row))
    .find(loop => loop !== undefined);
  const shown = inside[0] ?? outside ?? inner[0];
  if (!shown) {
    return [];
  }
  const which =
    inside.length > 1
      ? `the busiest of ${inside.length} of the selected line`
      : inside.length === 1 || outside !== undefined
        ? 'of the selected line'
        : 'the busiest; the selected line has none';
  return [
    h('h5', {}, `Inner loop, lines ${shown.first + 1}–${shown.last + 1}`),
    h('p', { class: 'tvmlab-why' }, `${capital(which)}: ${shown.summary}.${most(shown)}`),
    counts(shown),
    pressure(shown)
  ];
}

function most({ best_gflops: best }: InnerLoop): string {
  return best === null ? '' : ` That is ${rate(best)} at most at the measured clock.`;
}

function counts(loop: InnerLoop): HTMLElement {
  const facts: readonly (readonly [string, number, string])[] = [
    ['multiply-adds', loop.fma, ''],
    ['other arithmetic', loop.arithmetic, ''],
    ['loads', loop.loads, loop.broadcasts === 0 ? '' : `${loop.broadcasts} spread`],
    ['stores', loop.stores, ''],
    ['spills and reloads', loop.spills, ''],
    ['shuffles', loop.shuffles, ''],
    ['instructions', loop.instructions, '']
  ];
  return h(
    'dl',
    { class: 'tvmlab-counts', 'aria-label': 'Each iteration' },
    ...facts.map(([label, value, more]) =>
      h(
        'div',
        {},
        h('dt', {}, label),
        h(
          'dd',
          { 'data-none': String(value === 0) },
          more === '' ? String(value) : `${value}, ${more}`
        )
      )
    )
  );
}

/** How long each resource alone would take: the longest bar is the bound. */
function pressure({ pressure: asked, cycles }: InnerLoop): HTMLElement {
  const longest = Math.max(cycles, 1e-9);
  return h(
    'table',
    { class: 'tvmlab-facts-table tvmlab-pressure', 'aria-label': 'Pressure on the processor' },
    h(
      'thead',
      {},
      h('tr', {}, ...['resource', 'cycles', ''].map(text => h('th', { scope: 'col' }, text)))
    ),
    h(
      'tbody',
      {},
      ...asked.map(({ resource, cycles: own }) =>
        h(
          'tr',
          { 'data-bound': String(own >= cycles - 1e-6) },
          h('th', { scope: 'row' }, own >= cycles - 1e-6 ? `${resource} ◀ bound` : resource),
          h('td', {}, digits(own)),
          h(
            'td',
            { 'aria-hidden': 'true' },
            h('i', { style: `width:${((100 * own) / longest).toFixed(1)}%` })
          )
        )
      )
    )
  );
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

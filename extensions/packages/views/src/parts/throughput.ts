import type { InnerLoop, Source } from '@tvmlab/schema';

import { t } from '../hostPage';
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
      ? t('the busiest of %1 of the selected line', inside.length)
      : inside.length === 1 || outside !== undefined
        ? t('of the selected line')
        : t('the busiest; the selected line has none');
  return [
    h('h5', {}, t('Inner loop, lines %1–%2', shown.first + 1, shown.last + 1)),
    h('p', { class: 'tvmlab-why' }, `${capital(which)}: ${shown.summary}.${most(shown)}`),
    counts(shown),
    pressure(shown)
  ];
}

function most({ best_gflops: best }: InnerLoop): string {
  return best === null ? '' : ` ${t('That is %1 at most at the measured clock.', rate(best))}`;
}

function counts(loop: InnerLoop): HTMLElement {
  const facts: readonly (readonly [string, number, string])[] = [
    [t('multiply-adds'), loop.fma, ''],
    [t('other arithmetic'), loop.arithmetic, ''],
    [
      t('loads'),
      loop.loads,
      loop.broadcasts === 0 ? '' : t('%1 of one number for all lanes', loop.broadcasts)
    ],
    [t('stores'), loop.stores, ''],
    [t('spills and reloads'), loop.spills, ''],
    [t('shuffles'), loop.shuffles, ''],
    [t('instructions'), loop.instructions, '']
  ];
  return h(
    'dl',
    { class: 'tvmlab-counts', 'aria-label': t('Each iteration') },
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
    { class: 'tvmlab-facts-table tvmlab-pressure', 'aria-label': t('Pressure on the processor') },
    h(
      'thead',
      {},
      h('tr', {}, ...[t('resource'), t('cycles'), ''].map(text => h('th', { scope: 'col' }, text)))
    ),
    h(
      'tbody',
      {},
      ...asked.map(({ resource, cycles: own }) =>
        h(
          'tr',
          { 'data-bound': String(own >= cycles - 1e-6) },
          h('th', { scope: 'row' }, own >= cycles - 1e-6 ? t('%1 ◀ bound', resource) : resource),
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

import type { Cost } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { percent, time } from '../format';
import type { IViewState } from '../viewState';

/**
 * What the margin of the nest shows as a figure. Measured time is shared out as the samples of a
 * watched kernel say, and before there are any as estimated.
 */
const METRICS = {
  time: [marked('estimated time'), cost => cost.time],
  compute: [marked('arithmetic'), cost => cost.compute],
  compute_own: [marked('arithmetic, own'), cost => cost.compute_own],
  moved: [marked('data moved'), cost => cost.moved],
  moved_own: [marked('data moved, own'), cost => cost.moved_own],
  measured: [marked('measured time'), cost => cost.time]
} as const satisfies Record<string, readonly [string, (cost: Cost) => number]>;

/** How long a bar is for a share of the whole. */
const SCALES = {
  linear: [marked('linear'), share => share],
  root: [marked('root'), share => Math.sqrt(share)],
  log: [marked('log'), share => (share <= 0 ? 0 : Math.max(0, 1 + Math.log10(share) / 4))]
} as const satisfies Record<string, readonly [string, (share: number) => number]>;

/** The chosen figure and scale; times can only be told once this state is measured. */
export interface ICostStyle {
  metric: keyof typeof METRICS;
  scale: keyof typeof SCALES;
  seconds: number | null;
  /** Measured shares of lines, own and inclusive, where the kernel was watched. */
  shares: Readonly<Record<string, number[]>> | null;
}

export function costStyle({ choices, session }: IViewState): ICostStyle {
  const metric = choices['cost.metric'] ?? '';
  const scale = choices['cost.scale'] ?? '';
  const { median, stale } = session.measurement;
  return {
    metric: metric in METRICS ? (metric as ICostStyle['metric']) : 'time',
    scale: scale in SCALES ? (scale as ICostStyle['scale']) : 'linear',
    seconds: stale ? null : median,
    shares: session.shares ?? null
  };
}

export function legend(known: boolean, style: ICostStyle): HTMLElement {
  if (!known) {
    return h('span', {}, t('cost not estimated'));
  }
  const select = (
    name: string,
    label: string,
    chosen: string,
    all: Record<string, readonly [string, unknown]>
  ): HTMLElement =>
    h(
      'select',
      { class: 'tvmlab-quiet', 'data-set': name, 'aria-label': label },
      ...Object.entries(all).map(([value, [text]]) =>
        h('option', { value, selected: value === chosen }, t(text))
      )
    );
  return h(
    'span',
    { class: 'tvmlab-legend' },
    h('span', {}, h('i'), t('compute')),
    h('span', { class: 'tvmlab-moved' }, h('i'), t('data moved')),
    select('cost.metric', t('Cost to show'), style.metric, METRICS),
    select('cost.scale', t('Scale of the bars'), style.scale, SCALES)
  );
}

/** The two costs: inclusive pale, the line's own share full. */
export function costs(cost: Cost, style: ICostStyle, row: string): HTMLElement {
  const [, scaled] = SCALES[style.scale];
  const bar = (share: number, side: string, total: boolean): HTMLElement =>
    h('i', {
      class: total ? `${side} tvmlab-total` : side,
      style: `width:${(100 * scaled(Math.min(1, Math.max(0, share)))).toFixed(1)}%`
    });
  const title = t(
    'compute %1 (own %2), data moved %3 (own %4), time %5',
    percent(cost.compute),
    percent(cost.compute_own),
    percent(cost.moved),
    percent(cost.moved_own),
    percent(cost.time)
  );
  return h(
    'span',
    { class: 'tvmlab-costs', title },
    h(
      'span',
      { class: 'tvmlab-bar' },
      bar(cost.compute, 'tvmlab-c', true),
      bar(cost.compute_own, 'tvmlab-c', false),
      bar(cost.moved, 'tvmlab-m', true),
      bar(cost.moved_own, 'tvmlab-m', false)
    ),
    h('span', { class: 'tvmlab-pc' }, figure(cost, style, row))
  );
}

function figure(cost: Cost, { metric, seconds, shares }: ICostStyle, row: string): string {
  const [, share] = METRICS[metric];
  if (metric !== 'measured') {
    return percent(share(cost));
  }
  if (shares !== null) {
    const share = shares[row]?.[1] ?? 0;
    return seconds === null ? percent(share) : time(seconds * share);
  }
  return seconds === null ? '–' : time(seconds * cost.time);
}

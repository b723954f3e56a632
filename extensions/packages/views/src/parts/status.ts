import type { Measurement, State } from '@tvmlab/schema';

import { h } from '../dom';
import { digits, time, timeRange } from '../format';
import type { IViewState } from '../viewState';
import { Part } from './part';

/** The newest measurement, in words; old figures say that they are old. */
export class Status extends Part<IViewState> {
  constructor() {
    super(h('footer', { class: 'tvmlab-stat' }));
    this.element.append(this._figures, h('span', { class: 'tvmlab-grow' }), this._keys);
    this._figures.style.display = 'contents';
  }

  protected inputs({ session }: IViewState): readonly unknown[] {
    return [session.measurement, session.job];
  }

  protected draw({ session }: IViewState): void {
    this._figures.replaceChildren(
      ...background(session.job),
      ...figures(session.measurement),
      ...check(session.measurement)
    );
  }

  private readonly _figures = h('span');
  private readonly _keys = h('button', { type: 'button', 'data-command': 'help' }, '? keys');
}

function figures(measurement: Measurement): HTMLElement[] {
  const { status, median, lower, upper, repeats, gflops, stale, message } = measurement;
  const spans: HTMLElement[] = [];
  if (status === 'running' || status === 'queued') {
    spans.push(
      h(
        'span',
        { role: 'status' },
        status === 'queued' ? '◷ waiting to be measured' : '◷ measuring…'
      )
    );
  }
  if (status === 'failed') {
    spans.push(
      h('span', { class: 'tvmlab-wrong' }, `⊘ measurement failed: ${message ?? 'no reason given'}`)
    );
  }
  if (median !== null) {
    const of = repeats === null ? '' : ` of ${repeats}`;
    spans.push(h('span', { class: stale ? 'tvmlab-old' : '' }, `${time(median)} median${of}`));
    if (lower !== null && upper !== null) {
      spans.push(h('span', {}, `quartiles ${timeRange(lower, upper)}`));
    }
    if (gflops !== null) {
      spans.push(h('span', {}, `${digits(gflops)} GFLOP/s`));
    }
    if (stale) {
      spans.push(
        h(
          'span',
          { class: 'tvmlab-tag tvmlab-warned', title: 'Measured before the last change' },
          'stale'
        )
      );
    }
  } else if (status === 'none') {
    spans.push(h('span', {}, 'not measured yet'));
  }
  if (status === 'done' && message !== null) {
    spans.push(h('span', {}, message));
  }
  return spans;
}

/** What runs besides; a measurement has words of its own. */
function background(job: State['job']): HTMLElement[] {
  if (!job || job.kind === 'measure') {
    return [];
  }
  const message = job.message === null ? '' : ` · ${job.message}`;
  return [h('span', { role: 'status' }, `◷ ${job.title} ${job.done}/${job.total}${message}`)];
}

function check({ equal }: Measurement): HTMLElement[] {
  if (equal === null) {
    return [];
  }
  return [
    equal
      ? h('span', { class: 'tvmlab-good' }, '✓ equal to the unscheduled program')
      : h('span', { class: 'tvmlab-wrong' }, '✗ differs from the unscheduled program')
  ];
}

import type { Measurement, State } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h } from '../dom';
import { rate, time, timeRange } from '../format';
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
  private readonly _keys = h(
    'button',
    { type: 'button', 'data-command': 'help' },
    `? ${t('keys')}`
  );
}

function figures(measurement: Measurement): HTMLElement[] {
  const { status, median, lower, upper, repeats, gflops, stale, message } = measurement;
  const spans: HTMLElement[] = [];
  if (status === 'running' || status === 'queued') {
    spans.push(
      h(
        'span',
        { role: 'status' },
        `◷ ${status === 'queued' ? t('waiting to be measured') : t('measuring…')}`
      )
    );
  }
  if (status === 'failed') {
    spans.push(
      h(
        'span',
        { class: 'tvmlab-wrong' },
        `⊘ ${t('measurement failed: %1', message ?? t('no reason given'))}`
      )
    );
  }
  if (median !== null) {
    const words =
      repeats === null ? t('%1 median', time(median)) : t('%1 median of %2', time(median), repeats);
    spans.push(h('span', { class: stale ? 'tvmlab-old' : '' }, words));
    if (lower !== null && upper !== null) {
      spans.push(h('span', {}, t('quartiles %1', timeRange(lower, upper))));
    }
    if (gflops !== null) {
      spans.push(h('span', {}, rate(gflops)));
    }
    if (stale) {
      spans.push(
        h(
          'span',
          { class: 'tvmlab-tag tvmlab-warned', title: t('Measured before the last change') },
          t('stale')
        )
      );
    }
  } else if (status === 'none') {
    spans.push(h('span', {}, t('not measured yet')));
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
      ? h('span', { class: 'tvmlab-good' }, `✓ ${t('equal to the unscheduled program')}`)
      : h('span', { class: 'tvmlab-wrong' }, `✗ ${t('differs from the unscheduled program')}`)
  ];
}

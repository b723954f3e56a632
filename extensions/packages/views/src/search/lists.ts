import type { SearchState } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h } from '../dom';
import { digits, percent } from '../format';

const MOST = 8;

/** What the knobs explain, as bars. */
export function knobList({ knobs }: SearchState): HTMLElement[] {
  const shown = knobs.filter(knob => knob.share > 0).slice(0, MOST);
  return [
    h('h5', {}, t('What matters')),
    shown.length === 0
      ? h('p', { class: 'tvmlab-why' }, t('Too few trials to tell yet.'))
      : h(
          'dl',
          { class: 'tvmlab-bars' },
          ...shown.flatMap(({ knob, share }) => [
            h('dt', { class: 'tvmlab-mono' }, knob),
            h(
              'dd',
              {},
              h('i', { style: `--share: ${Math.round(share * 100)}%`, 'aria-hidden': 'true' }),
              h('span', {}, percent(share))
            )
          ])
        )
  ];
}

/** The fastest trials, each with a button that opens it. */
export function bestList({ trials, unit }: SearchState): HTMLElement[] {
  const order = trials.filter(trial => trial.measured !== null);
  order.sort((a, b) => (b.measured ?? 0) - (a.measured ?? 0));
  const heads = [t('trial'), unit, t('predicted'), ''];
  return [
    h('h5', {}, t('Fastest')),
    order.length === 0
      ? h('p', { class: 'tvmlab-why' }, t('Nothing has been measured yet.'))
      : h(
          'table',
          { class: 'tvmlab-fastest' },
          h('thead', {}, h('tr', {}, ...heads.map(text => h('th', { scope: 'col' }, text)))),
          h(
            'tbody',
            {},
            ...order.slice(0, MOST).map(({ index, measured, predicted }) =>
              h(
                'tr',
                {},
                h('td', {}, String(index + 1)),
                h('td', {}, digits(measured ?? 0)),
                h('td', {}, predicted === null ? '–' : digits(predicted)),
                h(
                  'td',
                  {},
                  h(
                    'button',
                    {
                      type: 'button',
                      class: 'tvmlab-link',
                      'data-open': index,
                      'aria-label': t('Open the schedule of trial %1', index + 1)
                    },
                    t('open')
                  )
                )
              )
            )
          )
        )
  ];
}

/** Causes of failure, the most frequent first. */
export function failureList({ failures }: SearchState): HTMLElement[] {
  return [
    h('h5', {}, t('Failures')),
    failures.length === 0
      ? h('p', { class: 'tvmlab-why' }, t('None.'))
      : h(
          'ul',
          { class: 'tvmlab-failures' },
          ...failures.map(({ status, count, error }) =>
            h(
              'li',
              {},
              h('b', {}, `${count} × ${status.replace('_', ' ')}`),
              ` ${t('first: %1', error)}`
            )
          )
        )
  ];
}

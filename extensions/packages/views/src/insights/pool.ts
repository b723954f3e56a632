import type { Pool, PoolCell } from '@tvmlab/schema';

import { t } from '../hostPage';
import type { IAnswer } from '../answers';
import { h } from '../dom';
import { time, timeRange } from '../format';
import type { IViewState } from '../viewState';
import { studyButton } from './studies';

/** The states of the path measured on this processor and on what it can be restricted to. */
export function measuredPool(view: IViewState, answer: IAnswer | undefined): HTMLElement[] {
  const caption = h(
    'div',
    { class: 'tvmlab-cap' },
    h(
      'span',
      { class: 'tvmlab-choosers' },
      t('This machine and'),
      h(
        'button',
        { class: 'tvmlab-btn', type: 'button', 'data-reset': 'machines' },
        `‹ ${t('another by its code')}`
      ),
      t('a pool, measured')
    ),
    studyButton(view, 'pool', t('Measure the pool'))
  );
  if (!answer?.data || !('study' in answer.data) || answer.data.study !== 'pool') {
    return [caption, h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Asking…'))];
  }
  return [caption, ...found(answer.data)];
}

function found({ known, failure, machines, rows, flips, values }: Pool): HTMLElement[] {
  if (!known) {
    return [
      h(
        'p',
        { class: 'tvmlab-why' },
        t(
          'The same schedules, built for this processor as if it had fewer instructions or threads, and measured here: what wins on one need not win on the other. Values are checked on emulated processors of other kinds, too, where an emulator is installed.'
        )
      )
    ];
  }
  if (failure !== '') {
    return [
      h(
        'p',
        { class: 'tvmlab-why tvmlab-wrong', role: 'status' },
        t('It could not be measured: %1', failure)
      )
    ];
  }
  const best = machines.map((_, n) =>
    Math.min(...rows.map(({ cells }) => cells[n]?.seconds ?? Infinity))
  );
  return [
    h(
      'table',
      { class: 'tvmlab-facts-table', 'aria-label': t('Measured on the pool') },
      h(
        'thead',
        {},
        h('tr', {}, ...[t('state'), ...machines].map(text => h('th', { scope: 'col' }, text)))
      ),
      h(
        'tbody',
        {},
        ...rows.map(({ node, label, cells }) =>
          h(
            'tr',
            {},
            h(
              'th',
              { scope: 'row' },
              h('button', { class: 'tvmlab-link', type: 'button', 'data-node': node }, label)
            ),
            ...cells.map((cell, n) => h('td', { title: rangeOf(cell) }, textOf(cell, best[n])))
          )
        )
      )
    ),
    h('h5', {}, t('Where they rank otherwise')),
    flips.length === 0
      ? h('p', { class: 'tvmlab-why' }, t('Nowhere beyond the noise of the measurements.'))
      : h(
          'ul',
          { class: 'tvmlab-there', 'aria-label': t('Ranked otherwise') },
          ...flips.map(text => h('li', {}, text))
        ),
    h('h5', {}, t('Other kinds of processors')),
    h(
      'ul',
      { class: 'tvmlab-there', 'aria-label': t('Values elsewhere') },
      ...values.map(text => h('li', {}, text))
    )
  ];
}

function textOf({ seconds, message }: PoolCell, best: number | undefined): string {
  return seconds === null ? message : `${time(seconds)}${seconds === best ? ' ★ fastest' : ''}`;
}

function rangeOf({ lower, upper }: PoolCell): string {
  return lower === null || upper === null ? '' : t('quartiles %1', timeRange(lower, upper));
}

import type { Attribution } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { digits } from '../format';
import type { IInsight } from '../insights';
import { choiceOf, chooser } from './choosing';
import { featureNote } from './features';

const MOST = 60;

/** A prediction taken apart: what moves the score of a schedule up or down. */
export const whyInsight: IInsight = {
  id: 'why',
  label: marked('Why'),
  ask: view => {
    const point = choiceOf(view, 'why.point');
    const { history, plot } = view.session;
    const known = plot.points.some(({ id }) => id === point) ? point : null;
    return {
      version: `${history.current}:${known ?? ''}:${plot.message ?? ''}`,
      command: { type: 'attribution', point: known }
    };
  },
  inputs: ({ session, choices }) => [session.plot, choices],
  draw: (view, answer) => {
    const points = view.session.plot.points.filter(({ id }) => id !== undefined).slice(-MOST);
    const point = choiceOf(view, 'why.point') ?? '';
    const caption = h(
      'div',
      { class: 'tvmlab-cap' },
      h(
        'span',
        { class: 'tvmlab-choosers' },
        t('Why the model says so of'),
        chooser('why.point', t('Schedule'), point, [
          ['', t('this state')],
          ...points.map(
            ({ id, label, measured, predicted }) =>
              [
                id ?? '',
                t('%1: %2, predicted %3', label, digits(measured), digits(predicted))
              ] as const
          )
        ])
      )
    );
    if (!answer?.data || !('effects' in answer.data)) {
      return [caption, h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Asking the model…'))];
    }
    const found = answer.data;
    return found.message === ''
      ? [caption, ...takenApart(found, view.session.plot.unit)]
      : [caption, h('p', { class: 'tvmlab-why' }, found.message)];
  }
};

function takenApart(
  { score, base, effects, rest, gflops }: Attribution,
  unit: string
): HTMLElement[] {
  const lines: (readonly [string, string, number])[] = [
    [t('of any schedule'), '', base],
    ...effects.map(({ feature, value, effect }) => [feature, digits(value), effect] as const),
    [t('all other features'), '', rest]
  ];
  const most = Math.max(...lines.map(([, , effect]) => Math.abs(effect)), 1e-9);
  return [
    h(
      'p',
      { class: 'tvmlab-why' },
      t(
        'Score %1%2: the sum of these. Above 0 is faster than most that the model has seen.',
        score.toFixed(2),
        gflops === null ? '' : `, ${t('about %1 %2', digits(gflops), unit)}`
      )
    ),
    h(
      'table',
      { class: 'tvmlab-facts-table tvmlab-effects', 'aria-label': t('Parts of the prediction') },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...[t('feature'), t('here'), t('adds')].map(text => h('th', { scope: 'col' }, text))
        )
      ),
      h('tbody', {}, ...lines.map(line => effectRow(line, most)))
    ),
    featureNote()
  ];
}

function effectRow(
  [feature, value, effect]: readonly [string, string, number],
  most: number
): HTMLElement {
  const width = `${((50 * Math.abs(effect)) / most).toFixed(1)}%`;
  const place = effect < 0 ? `right:50%;width:${width}` : `left:50%;width:${width}`;
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, feature),
    h('td', {}, value),
    h(
      'td',
      {},
      h(
        'span',
        { class: 'tvmlab-effect', 'aria-hidden': 'true' },
        h('i', { 'data-sign': effect < 0 ? 'less' : 'more', style: place })
      ),
      `${effect < 0 ? '−' : '+'}${Math.abs(effect).toFixed(2)}`
    )
  );
}

import type { Residual, Residuals, ResidualsCommand } from '@tvmlab/schema';

import { marked } from '../hostPage';
import { h } from '../dom';
import { digits, factor, percent, readersUnit } from '../format';
import type { IInsight } from '../insights';
import type { IViewState } from '../viewState';
import { choiceOf, chooser } from './choosing';
import { factsTable } from './tables';

type Chosen = ResidualsCommand['chosen'];

const CHOICES: readonly (readonly [Chosen, string])[] = [
  ['off', 'the tenth that is farthest off'],
  ['fast', 'the tenth that is faster than predicted'],
  ['slow', 'the tenth that is slower than predicted'],
  ['region', 'a region of the plot']
];
const BOUNDS = ['measured from', 'measured to', 'predicted from', 'predicted to'] as const;

/** Schedules of which the model was wrong: listed, compared with the others, opened by a click. */
export const residualsInsight: IInsight = {
  id: 'residuals',
  label: marked('Outliers'),
  ask: view => {
    const chosen = chosenOf(view);
    const { plot } = view.session;
    const [, scale] = readersUnit(plot.unit);
    const region = chosen === 'region' ? regionOf(view).map(bound => bound * scale) : null;
    return {
      version: `${plot.points.length}:${plot.message ?? ''}:${chosen}:${region?.join() ?? ''}`,
      command: { type: 'residuals', chosen, region }
    };
  },
  inputs: ({ choices, session }) => [choices, session.plot],
  draw: (view, answer) => {
    const chosen = chosenOf(view);
    const caption = [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h(
          'span',
          { class: 'tvmlab-choosers' },
          'Of ',
          chooser('residuals.chosen', 'Schedules', chosen, CHOICES)
        )
      ),
      chosen === 'region' && bounds(regionOf(view))
    ].filter(element => element !== false);
    if (!answer?.data || !('traits' in answer.data)) {
      return [
        ...caption,
        h('p', { class: 'tvmlab-why' }, answer?.error ?? 'Looking at the schedules…')
      ];
    }
    return [...caption, ...found(answer.data, readersUnit(view.session.plot.unit))];
  }
};

function chosenOf(view: IViewState): Chosen {
  const wanted = choiceOf(view, 'residuals.chosen');
  return CHOICES.find(([name]) => name === wanted)?.[0] ?? 'off';
}

/** The region that was brushed or typed, in the reader's unit; all of the plot before that. */
function regionOf(view: IViewState): number[] {
  const { points, unit } = view.session.plot;
  const [, scale] = readersUnit(unit);
  const top = points.reduce(
    (most, { measured, predicted }) => Math.max(most, measured, predicted),
    0
  );
  const most = Number(((1.01 * Math.max(top, 1e-9)) / scale).toPrecision(3));
  const whole = [0, most, 0, most];
  return whole.map((usual, n) => {
    const typed = Number(choiceOf(view, `residuals.${n}`) ?? NaN);
    return Number.isFinite(typed) ? typed : usual;
  });
}

function bounds(region: readonly number[]): HTMLElement {
  return h(
    'div',
    { class: 'tvmlab-choosers' },
    ...BOUNDS.map((label, n) =>
      h(
        'label',
        {},
        label,
        h('input', {
          type: 'number',
          class: 'tvmlab-size',
          'data-set': `residuals.${n}`,
          step: 'any',
          value: digits(region[n] ?? 0)
        })
      )
    )
  );
}

function found(
  { inside, outside, listed, traits, message }: Residuals,
  [unit, scale]: readonly [string, number]
): HTMLElement[] {
  return [
    h(
      'p',
      { class: 'tvmlab-why', role: 'status' },
      `${inside} schedules of ${inside + outside}. ${message}`
    ),
    ...(traits.length === 0
      ? []
      : [
          h('h5', {}, 'What they share'),
          factsTable(
            ['feature', 'here', 'elsewhere', 'tells apart'],
            traits.map(({ feature, inside: here, outside: there, share }) => [
              feature,
              digits(here),
              digits(there),
              percent(share)
            ]),
            'What these schedules share'
          )
        ]),
    h('h5', {}, `Which they are, in ${unit}`),
    h(
      'ul',
      { class: 'tvmlab-there', 'aria-label': 'Schedules of the region' },
      ...listed.map(schedule => item(schedule, scale))
    )
  ];
}

function item(
  { point, label, measured, predicted, ratio, opens }: Residual,
  scale: number
): HTMLElement {
  const words = ratio >= 1 ? `${factor(ratio)} faster` : `${factor(1 / ratio)} slower`;
  return h(
    'li',
    {},
    h(
      'button',
      {
        class: 'tvmlab-link',
        type: 'button',
        'data-point': Number(point.slice(1)),
        disabled: !opens
      },
      label
    ),
    h(
      'span',
      { class: 'tvmlab-dim' },
      ` measured ${digits(measured / scale)}, predicted ${digits(predicted / scale)}: ${words} than predicted`
    )
  );
}

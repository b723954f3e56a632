import type { Residual, Residuals, ResidualsCommand } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { digits, factor, percent, readersUnit } from '../format';
import type { IInsight } from '../insights';
import type { IViewState } from '../viewState';
import { choiceOf, chooser, translated } from './choosing';
import { featureNote } from './features';
import { factsTable } from './tables';

type Chosen = ResidualsCommand['chosen'];

const CHOICES: readonly (readonly [Chosen, string])[] = [
  ['off', marked('the tenth that is farthest off')],
  ['fast', marked('the tenth that is faster than predicted')],
  ['slow', marked('the tenth that is slower than predicted')],
  ['region', marked('a region of the plot')]
];
const BOUNDS = [
  marked('measured from'),
  marked('measured to'),
  marked('predicted from'),
  marked('predicted to')
] as const;

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
          `${t('Of')} `,
          chooser('residuals.chosen', t('Schedules'), chosen, translated(CHOICES))
        )
      ),
      chosen === 'region' && bounds(regionOf(view))
    ].filter(element => element !== false);
    if (!answer?.data || !('traits' in answer.data)) {
      return [
        ...caption,
        h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Looking at the schedules…'))
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
        t(label),
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
      t('%1 schedules of %2. %3', inside, inside + outside, message)
    ),
    ...(traits.length === 0
      ? []
      : [
          h('h5', {}, t('What they share')),
          factsTable(
            [t('feature'), t('here'), t('elsewhere'), t('tells apart')],
            traits.map(({ feature, inside: here, outside: there, share }) => [
              feature,
              digits(here),
              digits(there),
              percent(share)
            ]),
            t('What these schedules share')
          ),
          featureNote()
        ]),
    h('h5', {}, t('Which they are, in %1', unit)),
    h(
      'ul',
      { class: 'tvmlab-there', 'aria-label': t('Schedules of the region') },
      ...listed.map(schedule => item(schedule, scale))
    )
  ];
}

function item(
  { point, label, measured, predicted, ratio, opens }: Residual,
  scale: number
): HTMLElement {
  const words = ratio >= 1 ? t('%1 faster', factor(ratio)) : t('%1 slower', factor(1 / ratio));
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
      ` ${t('measured %1, predicted %2: %3 than predicted', digits(measured / scale), digits(predicted / scale), words)}`
    )
  );
}

import type { Learning, LearningStep } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h, s } from '../dom';
import { digits, factor, percent } from '../format';
import type { IInsight } from '../insights';
import { factsTable } from './tables';

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [250, 210, 34, 8, 182];

/** Models of more and more measurements, and how well each orders schedules that it never saw. */
export const learningInsight: IInsight = {
  id: 'learning',
  label: marked('Learning'),
  ask: ({ session }) => ({
    version: `${session.plot.points.length}:${session.plot.message ?? ''}`,
    command: { type: 'learning' }
  }),
  inputs: ({ session }) => [session.plot.unit],
  draw: ({ session }, answer) => {
    if (!answer?.data || !('steps' in answer.data) || !('measured' in answer.data)) {
      return [h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Training models…'))];
    }
    const { message, steps } = answer.data;
    return message !== '' || steps.length === 0
      ? [h('p', { class: 'tvmlab-why' }, message || t('No model could be trained.')), trainMore()]
      : scrubbed(answer.data, session.plot.unit);
  }
};

function trainMore(): HTMLElement {
  return h(
    'div',
    { class: 'tvmlab-foot' },
    h('span'),
    h(
      'button',
      { class: 'tvmlab-btn', type: 'button', 'data-command': 'explore' },
      t('Measure more')
    )
  );
}

function scrubbed(learning: Learning, unit: string): HTMLElement[] {
  const { steps, measured } = learning;
  const last = steps.length - 1;
  const words = h('output', { class: 'tvmlab-why' });
  const picture = h('div', { class: 'tvmlab-chart tvmlab-learned' });
  const range = h('input', {
    type: 'range',
    min: 0,
    max: last,
    value: last,
    'aria-label': t('Size of the training set')
  });
  const show = (): void => {
    const step = steps[Number(range.value)];
    if (step) {
      words.textContent = textOf(step, measured.length);
      range.setAttribute('aria-valuetext', words.textContent);
      picture.replaceChildren(chart(step, measured, unit));
    }
  };
  range.addEventListener('input', show);
  range.value = String(last);
  show();
  return [
    h(
      'div',
      { class: 'tvmlab-cap' },
      h('span', {}, t('How a model learns')),
      h('span', { class: 'tvmlab-dim' }, t('%1 schedules held out', measured.length))
    ),
    h('div', { class: 'tvmlab-scrub' }, range),
    words,
    h(
      'div',
      { class: 'tvmlab-iterations' },
      picture,
      factsTable(
        [t('trained on'), t('rank ρ'), t('usual error'), t('best of 3')],
        steps.map(step => [
          String(step.trained_on),
          step.correlation === null ? '–' : step.correlation.toFixed(2),
          step.error === null ? '–' : factor(step.error),
          percent(step.found)
        ]),
        t('Models by the size of their training set')
      )
    ),
    h(
      'p',
      { class: 'tvmlab-why' },
      t(
        'A search only needs the order: a model may be wrong in its figures and still find the best.'
      )
    ),
    trainMore()
  ];
}

function textOf(
  { trained_on: rows, correlation, error, found }: LearningStep,
  held: number
): string {
  const order =
    correlation === null ? t('no order') : t('rank correlation %1', correlation.toFixed(2));
  const off = error === null ? '' : `, ${t('usually %1 off', factor(error))}`;
  return t(
    'Trained on %1: %2 on %3 others%4; the best of its first three reaches %5 of the best.',
    rows,
    order,
    held,
    off,
    percent(found)
  );
}

function chart({ predicted }: LearningStep, measured: readonly number[], unit: string): SVGElement {
  const values = [...predicted, ...measured].filter(value => value > 0);
  const [low, high] = [Math.min(...values) / 1.2, Math.max(...values) * 1.2];
  const scale = (value: number): number =>
    Math.log(Math.max(value, low) / low) / Math.log(high / low);
  const x = (value: number): number => LEFT + (WIDTH - LEFT - 6) * scale(value);
  const y = (value: number): number => BOTTOM - (BOTTOM - TOP) * scale(value);
  return s(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': t(
        '%1 held-out schedules, predicted against measured, log scale',
        predicted.length
      )
    },
    s('line', { class: 'tvmlab-axis', x1: LEFT, y1: BOTTOM, x2: WIDTH - 6, y2: BOTTOM }),
    s('line', { class: 'tvmlab-axis', x1: LEFT, y1: TOP, x2: LEFT, y2: BOTTOM }),
    s('line', { class: 'tvmlab-identity', x1: x(low), y1: y(low), x2: x(high), y2: y(high) }),
    ...[low * 1.2, high / 1.2].flatMap(tick => [
      s('text', { x: x(tick), y: BOTTOM + 13, 'text-anchor': 'middle' }, digits(tick)),
      s('text', { x: LEFT - 4, y: y(tick) + 4, 'text-anchor': 'end' }, digits(tick))
    ]),
    s(
      'text',
      { x: (LEFT + WIDTH) / 2, y: HEIGHT - 2, 'text-anchor': 'middle' },
      t('measured %1', unit)
    ),
    ...predicted.map((value, i) =>
      s('circle', { class: 'tvmlab-point', cx: x(measured[i] ?? 0), cy: y(value), r: 3.5 })
    )
  );
}

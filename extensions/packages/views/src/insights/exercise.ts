import type { Exercise } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import type { IInsight } from '../insights';

const SIGNS = {
  true: ['✓', marked('met')],
  false: ['✗', marked('not met')],
  null: ['·', marked('not checked')]
} as const;
const GUESSES = [
  ['mine', marked('mine has fewer')],
  ['same', marked('the same')],
  ['start', marked('the start has fewer')]
] as const;

/** The exercise that the schedule belongs to: goals, check, hints, and a guess before the figures. */
export const exerciseInsight: IInsight = {
  id: 'exercise',
  label: marked('Exercise'),
  shown: ({ session }) => Boolean(session.exercise),
  ask: ({ session }) =>
    session.exercise
      ? {
          version: `${session.exercise.turn}:${session.history.current}`,
          command: { type: 'exercise' }
        }
      : null,
  inputs: ({ session }) => [session.exercise],
  draw: (_, answer) => {
    if (!answer?.data || !('goals' in answer.data)) {
      return [h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Opening the exercise…'))];
    }
    const found = answer.data;
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('b', {}, found.title),
        h('span', { class: 'tvmlab-dim' }, standing(found))
      ),
      h('p', { class: 'tvmlab-task' }, found.text),
      h(
        'ul',
        { class: 'tvmlab-goals', 'aria-label': t('Goals') },
        ...found.goals.map(({ title, met, found: what }) => {
          const [sign, words] = SIGNS[String(met) as keyof typeof SIGNS];
          return h(
            'li',
            { 'data-met': String(met) },
            h('span', { 'aria-hidden': 'true' }, `${sign} `),
            h('span', { class: 'tvmlab-hidden' }, `${t(words)}: `),
            title,
            what !== '' && h('span', { class: 'tvmlab-dim' }, ` · ${what}`)
          );
        })
      ),
      found.stale &&
        h('p', { class: 'tvmlab-why' }, t('You took steps since this check; check again.')),
      h(
        'div',
        { class: 'tvmlab-choosers' },
        action('check', t('Check'), true),
        action('hint', t('Hint (%1 of %2 taken)', found.hints_taken, found.hints)),
        action('solution', t('Solution'), false, found.attempts === 0)
      ),
      ...guess(found),
      ...said(t('Hint'), found.hint),
      ...said(t('One solution'), found.solution)
    ].filter(part => part instanceof HTMLElement);
  }
};

function standing({ passed, solved, attempts }: Exercise): string {
  if (passed || solved) {
    return `✓ ${t('solved · %1 checked', attempts)}`;
  }
  return attempts === 0 ? t('not tried yet') : t('%1 checked', attempts);
}

function action(what: string, label: string, main = false, disabled = false): HTMLElement {
  return h(
    'button',
    {
      class: main ? 'tvmlab-btn tvmlab-pri' : 'tvmlab-btn',
      type: 'button',
      'data-exercise': what,
      disabled
    },
    label
  );
}

/** Say first which schedule misses the cache less, then see the counts. */
function guess({ prediction }: Exercise): HTMLElement[] {
  return [
    h('h5', {}, t('Guess first: which has fewer misses in the teaching cache?')),
    h(
      'div',
      { class: 'tvmlab-choosers' },
      ...GUESSES.map(([value, label]) =>
        h(
          'button',
          { class: 'tvmlab-btn', type: 'button', 'data-exercise': 'predict', 'data-guess': value },
          t(label)
        )
      )
    ),
    ...said('', prediction)
  ];
}

function said(title: string, text: string): HTMLElement[] {
  if (text === '') {
    return [];
  }
  const body = h('pre', { class: 'tvmlab-said', role: 'status' }, text);
  return title === '' ? [body] : [h('h5', {}, title), body];
}

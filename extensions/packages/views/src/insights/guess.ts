import type { State } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { percent } from '../format';
import type { IInsight } from '../insights';
import { choiceOf, chooser } from './choosing';
import { factsTable } from './tables';

type Guess = NonNullable<State['guess']>;

const GUESSES = [
  ['faster', marked('faster')],
  ['same', marked('about as fast')],
  ['slower', marked('slower')]
] as const;

/** Saying what a measurement will be before it is shown, and how often that was right. */
export const guessInsight: IInsight = {
  id: 'guess',
  label: marked('Guess'),
  ask: null,
  inputs: ({ session, choices, connection }) => [session.guess, choices, connection.state],
  draw: view => {
    const guess = view.session.guess;
    if (!guess) {
      return [
        h(
          'p',
          { class: 'tvmlab-why' },
          t('A recording measures nothing, so there is nothing to guess.')
        )
      ];
    }
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('span', {}, t('Guess before the measurement is shown')),
        h(
          'button',
          {
            class: 'tvmlab-btn',
            type: 'button',
            'data-command': guess.on ? 'guess:off' : 'guess:on',
            'aria-pressed': String(guess.on),
            disabled: view.connection.state === 'gone'
          },
          guess.on ? `◉ ${t('Guess first')}` : `○ ${t('Guess first')}`
        )
      ),
      ...(guess.waiting ? form(guess.waiting, choiceOf(view, 'guess.limit') ?? '') : [idle(guess)]),
      ...scores(guess)
    ];
  }
};

function form({ label, against }: NonNullable<Guess['waiting']>, limit: string): HTMLElement[] {
  return [
    h(
      'p',
      { role: 'status' },
      h('b', {}, label),
      ` ${t('is measured. Against %1, what will it be, and what bounds it?', against)}`
    ),
    h(
      'div',
      { class: 'tvmlab-choosers', role: 'group', 'aria-label': t('Your guess') },
      chooser('guess.limit', t('Bound by'), limit, [
        ['', t('bound by: no idea')],
        ['arithmetic', t('bound by arithmetic')],
        ['memory', t('bound by memory')]
      ]),
      ...GUESSES.map(([said, words]) =>
        h(
          'button',
          { class: 'tvmlab-btn tvmlab-pri', type: 'button', 'data-command': `guess:${said}` },
          t(words)
        )
      )
    )
  ];
}

function idle({ on, last }: Guess): HTMLElement {
  const words = on
    ? t('Take a step and measure: the figures wait until you have guessed.')
    : t(
        'While this is on, a measured state hides its figures until you have said whether it is faster.'
      );
  return h(
    'p',
    {
      class: last === null ? 'tvmlab-why' : last.right ? 'tvmlab-good' : 'tvmlab-wrong',
      role: 'status'
    },
    last === null ? words : `${last.right ? '✓' : '✗'} ${last.words}`
  );
}

/** How often each guess was right: kept on this machine, sent nowhere. */
function scores({ scores: known }: Guess): HTMLElement[] {
  if (known.every(({ times }) => times === 0)) {
    return [];
  }
  return [
    h('h5', {}, t('How your guesses were')),
    factsTable(
      [t('you said'), t('times'), t('right')],
      known.map(({ said, times, right }) => [
        t(GUESSES.find(([name]) => name === said)?.[1] ?? said),
        String(times),
        times === 0 ? '–' : `${right} (${percent(right / times)})`
      ]),
      t('How your guesses were')
    ),
    h('p', { class: 'tvmlab-why' }, t('This is kept on this machine and sent nowhere.'))
  ];
}

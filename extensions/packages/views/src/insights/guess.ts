import type { State } from '@tvmlab/schema';

import { h } from '../dom';
import { percent } from '../format';
import type { IInsight } from '../insights';
import { choiceOf, chooser } from './choosing';
import { factsTable } from './tables';

type Guess = NonNullable<State['guess']>;

const GUESSES = [
  ['faster', 'faster'],
  ['same', 'about as fast'],
  ['slower', 'slower']
] as const;

/** Saying what a measurement will be before it is shown, and how often that was right. */
export const guessInsight: IInsight = {
  id: 'guess',
  label: 'Guess',
  ask: null,
  inputs: ({ session, choices, connection }) => [session.guess, choices, connection.state],
  draw: view => {
    const guess = view.session.guess;
    if (!guess) {
      return [
        h(
          'p',
          { class: 'tvmlab-why' },
          'A recording measures nothing, so there is nothing to guess.'
        )
      ];
    }
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('span', {}, 'Guess before the measurement is shown'),
        h(
          'button',
          {
            class: 'tvmlab-btn',
            type: 'button',
            'data-command': guess.on ? 'guess:off' : 'guess:on',
            'aria-pressed': String(guess.on),
            disabled: view.connection.state === 'gone'
          },
          guess.on ? '◉ Guess first' : '○ Guess first'
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
      ` is measured. Against ${against}, what will it be, and what bounds it?`
    ),
    h(
      'div',
      { class: 'tvmlab-choosers', role: 'group', 'aria-label': 'Your guess' },
      chooser('guess.limit', 'Bound by', limit, [
        ['', 'bound by: no idea'],
        ['arithmetic', 'bound by arithmetic'],
        ['memory', 'bound by memory']
      ]),
      ...GUESSES.map(([said, words]) =>
        h(
          'button',
          { class: 'tvmlab-btn tvmlab-pri', type: 'button', 'data-command': `guess:${said}` },
          words
        )
      )
    )
  ];
}

function idle({ on, last }: Guess): HTMLElement {
  const words = on
    ? 'Take a step and measure: the figures wait until you have guessed.'
    : 'While this is on, a measured state hides its figures until you have said whether it is faster.';
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
    h('h5', {}, 'How your guesses were'),
    factsTable(
      ['you said', 'times', 'right'],
      known.map(({ said, times, right }) => [
        GUESSES.find(([name]) => name === said)?.[1] ?? said,
        String(times),
        times === 0 ? '–' : `${right} (${percent(right / times)})`
      ]),
      'How your guesses were'
    ),
    h('p', { class: 'tvmlab-why' }, 'This is kept on this machine and sent nowhere.')
  ];
}

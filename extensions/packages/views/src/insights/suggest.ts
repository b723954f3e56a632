import type { Suggestion } from '@tvmlab/schema';

import { h } from '../dom';
import { factor } from '../format';
import type { IInsight } from '../insights';

/** The most promising next steps, with the doubt and the reason; a click takes one. */
export const suggestInsight: IInsight = {
  id: 'suggest',
  label: 'Next',
  ask: ({ session }) => ({
    version: `${session.history.current}:${session.plot.message ?? ''}`,
    command: { type: 'suggest' }
  }),
  inputs: ({ session }) => [session.history.current],
  draw: (_, answer) => {
    if (!answer?.data || !('basis' in answer.data)) {
      return [h('p', { class: 'tvmlab-why' }, answer?.error ?? 'Trying the steps…')];
    }
    const { basis, tried, steps } = answer.data;
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('span', {}, `Next step, by ${basis}`),
        h('span', { class: 'tvmlab-dim' }, `${tried} tried`)
      ),
      steps.length === 0
        ? h('p', { class: 'tvmlab-why' }, 'No single step promises to be faster.')
        : h('ol', { class: 'tvmlab-acts' }, ...steps.map(item)),
      h(
        'p',
        { class: 'tvmlab-why' },
        'These are guesses to try and measure; nothing is done by itself.'
      )
    ];
  }
};

function item({ row, action, title, line, ratio, low, high, reason }: Suggestion): HTMLElement {
  const doubt = low === null || high === null ? '' : ` (${factor(low)} to ${factor(high)})`;
  return h(
    'li',
    {},
    h(
      'button',
      {
        class: 'tvmlab-act',
        type: 'button',
        'data-suggested': `${row}/${action}`,
        'data-status': 'allowed',
        'aria-label': `${title} on ${line}, ${factor(ratio)}${doubt}. ${reason}`
      },
      h('span', { class: 'tvmlab-gain', 'data-gain': 'gain' }, factor(ratio)),
      h('span', {}, title, h('span', { class: 'tvmlab-dim' }, ` · ${line}`)),
      h('span', { class: 'tvmlab-what' }, `${doubt} ${reason}`)
    )
  );
}

import type { Suggestion } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { factor, percent } from '../format';
import type { IInsight } from '../insights';
import type { IViewState } from '../viewState';
import { choiceOf, chooser } from './choosing';

/** The most promising next steps, with the doubt and the reason; a click takes one. */
export const suggestInsight: IInsight = {
  id: 'suggest',
  label: marked('Next'),
  ask: ({ session }) => ({
    version: `${session.history.current}:${session.plot.message ?? ''}`,
    command: { type: 'suggest' }
  }),
  inputs: ({ session, choices, connection }) => [
    session.history.current,
    Boolean(session.job),
    choices,
    connection.state
  ],
  draw: (view, answer) => {
    if (!answer?.data || !('basis' in answer.data)) {
      return [h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Trying the steps…'))];
    }
    const { basis, tried, steps } = answer.data;
    const learned = steps.some(({ teaches }) => teaches !== null);
    const order = learned ? (choiceOf(view, 'suggest.order') ?? 'gain') : 'gain';
    const listed =
      order === 'teaches'
        ? [...steps].sort((a, b) => (b.teaches ?? 0) - (a.teaches ?? 0))
        : steps.filter(({ ratio }) => ratio > 1.005);
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('span', {}, t('Next step, by %1', basis)),
        learned &&
          chooser('suggest.order', t('Order'), order, [
            ['gain', t('by expected gain')],
            ['teaches', t('by what measuring it would teach')]
          ]),
        h('span', { class: 'tvmlab-dim' }, t('%1 tried', tried))
      ),
      listed.length === 0
        ? h(
            'p',
            { class: 'tvmlab-why' },
            t(
              'No single step promises to be faster. Several together may be: a search from an earlier state, such as the start, tries them.'
            )
          )
        : h('ol', { class: 'tvmlab-acts' }, ...listed.map(item)),
      h(
        'p',
        { class: 'tvmlab-why' },
        learned
          ? t(
              'Guesses to try and measure; nothing is done by itself. “Teaches” is how far models that learned from parts of the measurements disagree on the step: 100 % is the one of which they know least.'
            )
          : t('These are guesses to try and measure; nothing is done by itself.')
      ),
      h('div', { class: 'tvmlab-foot' }, h('span'), button('measure', `▶ ${t('Measure')}`, view))
    ];
  }
};

function button(command: string, label: string, { session, connection }: IViewState): HTMLElement {
  const disabled = Boolean(session.job) || connection.state === 'gone';
  return h(
    'button',
    { class: 'tvmlab-btn', type: 'button', 'data-command': command, disabled },
    label
  );
}

function item({
  row,
  action,
  title,
  line,
  ratio,
  low,
  high,
  reason,
  teaches
}: Suggestion): HTMLElement {
  const doubt =
    low === null || high === null ? '' : ` ${t('(%1 to %2)', factor(low), factor(high))}`;
  const lesson = teaches === null ? '' : ` ${t('teaches %1', percent(teaches))}`;
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
        'aria-label': t(
          '%1 on %2, %3%4%5. %6',
          title,
          line,
          factor(ratio),
          doubt,
          lesson && `,${lesson}`,
          reason
        )
      },
      h(
        'span',
        { class: 'tvmlab-gain', 'data-gain': ratio > 1.005 ? 'gain' : 'noise' },
        factor(ratio)
      ),
      h(
        'span',
        {},
        h('span', { class: 'tvmlab-mono' }, line),
        ` · ${title}`,
        lesson !== '' && h('span', { class: 'tvmlab-tag' }, lesson.trim())
      ),
      h('span', { class: 'tvmlab-what' }, `${doubt} ${reason}`)
    )
  );
}

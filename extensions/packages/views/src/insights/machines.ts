import { marked, t } from '../hostPage';
import { h } from '../dom';
import type { IInsight } from '../insights';
import { choiceOf, chooser } from './choosing';
import { measuredPool } from './pool';
import { studyQuestion } from './studies';
import { factsTable } from './tables';

/** What processors: other ones by their code, or this one restricted, which is measured. */
const POOL = 'pool';

/** The same schedule on another machine, side by side. */
export const machinesInsight: IInsight = {
  id: 'machines',
  label: marked('Machines'),
  ask: view => {
    const other = choiceOf(view, 'machines.other');
    if (other === POOL) {
      return studyQuestion(view, { type: 'pool' });
    }
    const { measurement, history } = view.session;
    return {
      version: `${history.current}:${other ?? ''}:${measurement.median ?? ''}`,
      command: { type: 'machines', other }
    };
  },
  inputs: ({ choices, session, connection }) => [choices, session.job, connection.state],
  draw: (view, answer) => {
    if (choiceOf(view, 'machines.other') === POOL) {
      return measuredPool(view, answer);
    }
    if (!answer?.data || !('choices' in answer.data)) {
      return [
        h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Making code for the other machine…'))
      ];
    }
    const { choices, other, facts, steps, flips } = answer.data;
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h(
          'span',
          { class: 'tvmlab-choosers' },
          t('This machine and'),
          chooser('machines.other', t('Other machine'), other, [
            ...choices.map(name => [name, name] as const),
            [POOL, t('a pool, measured')]
          ])
        )
      ),
      factsTable(
        ['', t('this machine'), other],
        facts.map(({ label, here, there }) => [label, here, there]),
        t('Both machines')
      ),
      h('h5', {}, t('Steps that are another matter there')),
      steps.length + flips.length === 0
        ? h('p', { class: 'tvmlab-why' }, t('None: every step does there what it does here.'))
        : h(
            'ul',
            { class: 'tvmlab-there' },
            ...steps.map(({ node, label, note }) =>
              h(
                'li',
                {},
                h('button', { class: 'tvmlab-link', type: 'button', 'data-node': node }, label),
                h('span', { class: 'tvmlab-dim' }, ` ${note}`)
              )
            ),
            ...flips.map(text => h('li', {}, text))
          )
    ];
  }
};

import type { Finding, Proof } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import type { IInsight } from '../insights';
import { studyButton, studyQuestion } from './studies';

const STAGES: Record<Finding['stage'], string> = {
  start: marked('in the unscheduled program'),
  schedule: marked('in the scheduled loops'),
  lowered: marked('in what the passes make of them')
};

/** The schedule run in the interpreter, which takes nothing as given: races, bounds, values. */
export const proofInsight: IInsight = {
  id: 'proof',
  label: marked('Proof'),
  ask: view => studyQuestion(view, { type: 'proof' }),
  inputs: ({ session, connection }) => [session.job, connection.state],
  draw: (view, answer) => {
    const caption = h(
      'div',
      { class: 'tvmlab-cap' },
      h('span', {}, t('In the interpreter, at small sizes')),
      studyButton(view, 'proof', t('Run it'))
    );
    if (!answer?.data || !('study' in answer.data) || answer.data.study !== 'proof') {
      return [caption, h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Asking…'))];
    }
    return [caption, ...found(answer.data)];
  }
};

function found({ known, failure, sizes, runs, findings, notes }: Proof): HTMLElement[] {
  if (!known) {
    return [
      h(
        'p',
        { class: 'tvmlab-why' },
        t(
          'Steps are proved before they are taken, but what somebody vouched for with “assume” is not. The interpreter looks at every access: elements outside of their buffer, reads of what nobody wrote, iterations that race, and values that differ from the unscheduled program.'
        )
      )
    ];
  }
  if (failure !== '') {
    return [
      h(
        'p',
        { class: 'tvmlab-why tvmlab-wrong', role: 'status' },
        t('It could not be run: %1', failure)
      )
    ];
  }
  const words =
    findings.length === 0
      ? `✓ ${t('Nothing was found with %1. Run: %2.', sizes, runs.join('; '))}`
      : `✗ ${findings.length === 1 ? t('One thing was found with %1.', sizes) : t('%1 things were found with %2.', findings.length, sizes)}`;
  return [
    h(
      'p',
      { class: findings.length === 0 ? 'tvmlab-good' : 'tvmlab-wrong', role: 'status' },
      words
    ),
    ...(findings.length === 0
      ? []
      : [
          h('ol', { class: 'tvmlab-findings', 'aria-label': t('Findings') }, ...findings.map(item))
        ]),
    ...notes.map(note => h('p', { class: 'tvmlab-why' }, note))
  ];
}

function item({ stage, rule, words, line, iterations, row }: Finding): HTMLElement {
  const where =
    iterations.length === 0 ? '' : ` ${t('in %1', iterations.join(` ${t('and in')} `))}`;
  return h(
    'li',
    {},
    h('b', {}, rule.replace('-', ' ')),
    h('span', { class: 'tvmlab-dim' }, ` ${t(STAGES[stage])}${where}`),
    h('p', {}, words),
    line !== '' &&
      (row === null
        ? h('code', {}, line)
        : h(
            'button',
            { class: 'tvmlab-link', type: 'button', 'data-row': row, title: t('Select its line') },
            line
          ))
  );
}

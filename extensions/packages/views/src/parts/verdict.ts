import type { Verdict } from '@tvmlab/schema';

import { h } from '../dom';

const WORDS: Record<Verdict['status'], string> = {
  allowed: 'is allowed.',
  refused: 'is refused.',
  unknown: 'is not done, since it could not be proved safe.'
};

/** Why a step is refused: the rule, two iterations that show it, and the ways out. */
export function verdictCard(title: string, verdict: Verdict): HTMLElement {
  return h(
    'div',
    {
      class: 'tvmlab-card',
      role: 'group',
      'aria-label': `Why not ${title}`,
      'data-status': verdict.status
    },
    h('div', {}, h('b', {}, `⊘ ${title}`), ` ${WORDS[verdict.status]} ${sentence(verdict.reason)}`),
    verdict.witness !== null && h('div', { class: 'tvmlab-mono' }, verdict.witness),
    verdict.fixes.length > 0 &&
      h(
        'div',
        { class: 'tvmlab-fixes' },
        ...verdict.fixes.map(fix =>
          h(
            'button',
            { class: 'tvmlab-btn', type: 'button', 'data-fix': fix.token },
            `Fix: ${fix.title}`
          )
        )
      ),
    verdict.rule !== '' && h('div', { class: 'tvmlab-rule' }, `rule ${verdict.rule}`)
  );
}

/** A reason as a sentence of its own. */
function sentence(reason: string): string {
  const stop = /[.!?]$/.test(reason) ? '' : '.';
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${stop}`;
}

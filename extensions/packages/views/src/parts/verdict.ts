import type { Clash, Side, Verdict } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';

const WORDS: Record<Verdict['status'], string> = {
  allowed: marked('is allowed.'),
  refused: marked('is refused.'),
  unknown: marked('is not done, since it could not be proved safe.')
};

/** Why a step is refused: the rule, two iterations that show it, and the ways out. */
export function verdictCard(title: string, verdict: Verdict): HTMLElement {
  return h(
    'div',
    {
      class: 'tvmlab-card',
      role: 'group',
      'aria-label': t('Why not %1', title),
      'data-status': verdict.status
    },
    h(
      'div',
      {},
      h('b', {}, `⊘ ${title}`),
      ` ${t(WORDS[verdict.status])} ${sentence(verdict.reason)}`
    ),
    verdict.clash !== null && clashFigure(verdict.clash, verdict.witness ?? ''),
    verdict.clash === null &&
      verdict.witness !== null &&
      h('div', { class: 'tvmlab-mono' }, verdict.witness),
    verdict.fixes.length > 0 &&
      h(
        'div',
        { class: 'tvmlab-fixes' },
        ...verdict.fixes.map(fix =>
          h(
            'button',
            { class: 'tvmlab-btn', type: 'button', 'data-fix': fix.token },
            t('Fix: %1', fix.title)
          )
        )
      ),
    verdict.rule !== '' && h('div', { class: 'tvmlab-rule' }, t('rule %1', verdict.rule))
  );
}

/** The two iterations, each with what it does, and the one element between them. */
function clashFigure(clash: Clash, words: string): HTMLElement {
  const { first, second, element, sizes } = clash;
  return h(
    'figure',
    { class: 'tvmlab-clash' },
    h('figcaption', {}, t('For example: %1', words)),
    h(
      'div',
      { class: 'tvmlab-sides', 'aria-hidden': 'true' },
      sideBox(first),
      h('span', { class: 'tvmlab-does' }, `${first.does} →`),
      h('span', { class: 'tvmlab-cell' }, element),
      sideBox(second),
      h('span', { class: 'tvmlab-does' }, `${second.does} →`)
    ),
    sizes !== '' && h('div', { class: 'tvmlab-rule' }, t('with %1', sizes))
  );
}

/** One iteration: its block, and its loops with those lit that tell it from the other. */
function sideBox({ block, loops }: Side): HTMLElement {
  const values = loops.map(({ name, value, differs }) =>
    h('span', { class: differs ? 'tvmlab-differs' : '' }, `${name}=${value}`)
  );
  return h('span', { class: 'tvmlab-iteration' }, h('b', {}, block), ...values);
}

/** A reason as a sentence of its own; a name at its start stays as it is written. */
function sentence(reason: string): string {
  const stop = /[.!?]$/.test(reason) ? '' : '.';
  const start = reason.charAt(0);
  return `${/^[a-z]+[ ,]/.test(reason) ? start.toUpperCase() : start}${reason.slice(1)}${stop}`;
}

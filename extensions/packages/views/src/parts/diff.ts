import type { DiffLine } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h } from '../dom';

const WORDS: Record<DiffLine['sign'], string> = { '+': 'added', '-': 'removed', ' ': '', '…': '' };

/** Two texts in one, with a sign before each line that only one of them has. */
export function diffView(lines: readonly DiffLine[], label: string): HTMLElement {
  const changed = lines.some(({ sign }) => sign === '+' || sign === '-');
  return h(
    'pre',
    { class: 'tvmlab-diff', tabindex: 0, role: 'group', 'aria-label': label },
    ...(changed ? lines.map(line) : [h('span', { class: 'tvmlab-dim' }, t('no difference'))])
  );
}

function line({ sign, text }: DiffLine): HTMLElement {
  const words = WORDS[sign];
  return h(
    'span',
    { 'data-sign': sign },
    h('i', { 'aria-hidden': 'true' }, sign),
    words !== '' && h('span', { class: 'tvmlab-hidden' }, `${words}: `),
    text === '' ? '\u00a0' : text
  );
}

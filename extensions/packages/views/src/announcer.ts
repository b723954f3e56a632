import type { State } from '@tvmlab/schema';

import { t } from './hostPage';
import { h } from './dom';
import { rate, time } from './format';

/** What happens, in words for those who do not see it. */
export class Announcer {
  readonly element = h('div', { class: 'tvmlab-hidden', 'aria-live': 'polite' });

  /** Say something; also when it is what was said last. Nothing to say leaves what was said. */
  say(text: string): void {
    if (text === '') {
      return;
    }
    const same = this.element.textContent === text;
    this.element.textContent = same ? `${text}\u00a0` : text;
  }
}

/** What of a change of the session is worth being told; null if nothing is. */
export function newsOf(before: State, after: State): string | null {
  const { current, nodes } = after.history;
  if (current !== before.history.current) {
    const node = nodes.find(({ id }) => id === current);
    const lines = after.rows.filter(({ type }) => type === 'loop').length;
    return t('%1: %2 loops now.', node?.checkpoint ?? node?.label ?? t('another state'), lines);
  }
  const { status, median, gflops, message } = after.measurement;
  if (status === before.measurement.status) {
    return null;
  }
  if (status === 'failed') {
    return t('The measurement failed: %1', message ?? t('no reason was given'));
  }
  if (status !== 'done' || median === null) {
    return null;
  }
  const speed = gflops === null ? '' : `, ${rate(gflops)}`;
  return t('Measured: %1.', `${time(median)}${speed}`);
}

import type { State } from '@tvmlab/schema';

import { h } from './dom';
import { digits, time } from './format';

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
    return `${node?.checkpoint ?? node?.label ?? 'another state'}: ${lines} loops now.`;
  }
  const { status, median, gflops, message } = after.measurement;
  if (status === before.measurement.status) {
    return null;
  }
  if (status === 'failed') {
    return `The measurement failed: ${message ?? 'no reason was given'}`;
  }
  if (status !== 'done' || median === null) {
    return null;
  }
  const rate = gflops === null ? '' : `, ${digits(gflops)} GFLOP/s`;
  return `Measured: ${time(median)}${rate}.`;
}

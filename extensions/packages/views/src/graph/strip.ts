import type { GraphRow } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h } from '../dom';
import { percent, time } from '../format';

const MOST = 400;

/** Where the time of a run goes, from its first kernel to its last; a click goes to the kernel. */
export class Strip {
  readonly element = h('div', {
    class: 'tvmlab-strip',
    role: 'img',
    'aria-label': t('Time of the kernels, from first to last')
  });

  show(rows: readonly GraphRow[]): void {
    const measured = rows.filter(({ time: found }) => found !== null);
    this.element.toggleAttribute('hidden', measured.length === 0);
    // Of very many kernels only those are drawn that would be seen.
    const least = measured.length > MOST ? 0.0005 : 0;
    this.element.replaceChildren(
      ...measured.filter(row => (row.time?.share ?? 0) >= least).map(piece)
    );
    const slowest = [...measured].sort((a, b) => (b.time?.share ?? 0) - (a.time?.share ?? 0));
    const words = slowest.slice(0, 3).map(r => `${r.name} ${percent(r.time?.share ?? 0)}`);
    this.element.setAttribute(
      'aria-label',
      t('Time of the kernels; slowest: %1', words.join(', '))
    );
  }

  mark(row: string | null): void {
    for (const part of this.element.children) {
      part.toggleAttribute('data-on', (part as HTMLElement).dataset['piece'] === row);
    }
  }
}

function piece(row: GraphRow): HTMLElement {
  const part = h('i', {
    'data-piece': row.id,
    'data-class': row.kind,
    title: `${row.name}: ${time(row.time?.seconds ?? 0)}`
  });
  part.style.flexGrow = String(row.time?.share ?? 0);
  return part;
}

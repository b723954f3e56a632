import type { Cost, Row } from '@tvmlab/schema';

import { h, uniqueId } from '../dom';
import { bytes, count, percent } from '../format';
import { type IMoving, SLOT_SIGNS, slotWords } from '../moving';
import { type IViewState, visibleRows } from '../viewState';
import { Part } from './part';

const LETTERS: Record<Row['kind'], string> = {
  serial: 'S',
  parallel: 'P',
  vectorized: 'V',
  unrolled: 'U',
  thread: 'T',
  grid: 'G',
  virtual: 'I',
  tensor: 'X',
  block: '▣',
  buffer: '▤',
  let: '=',
  call: 'ƒ',
  barrier: '‖'
};

const CALLS: Partial<Record<Row['kind'], string>> = {
  parallel: 'parallel',
  vectorized: 'vectorize',
  unrolled: 'unroll',
  thread: 'thread',
  grid: 'thread',
  virtual: 'virtual',
  tensor: 'tensor'
};

/** The loop nest, a line for each loop, block and buffer, with costs in the margin. */
export class Nest extends Part<IViewState> {
  constructor() {
    super(h('section', { class: 'tvmlab-nest', 'aria-label': 'Loop nest' }));
    this.element.append(this._caption, this.tree);
  }

  /** What has the focus while lines are walked with the arrow keys. */
  readonly tree = h('div', { class: 'tvmlab-tree', role: 'tree', tabindex: 0 });

  override render(view: IViewState): void {
    super.render(view);
    this._showPlaces(view.moving);
    this._showLinked(view.pointed);
  }

  protected inputs({ session, selected, collapsed }: IViewState): readonly unknown[] {
    return [session.rows, selected, collapsed];
  }

  protected draw(view: IViewState): void {
    const { session, selected, collapsed } = view;
    const loops = session.rows.filter(row => row.type === 'loop').length;
    const blocks = session.rows.filter(row => row.type === 'block').length;
    this._caption.replaceChildren(
      h('span', {}, `Loop nest · ${plural(loops, 'loop')}, ${plural(blocks, 'block')}`),
      legend(session.rows.some(row => row.cost !== null))
    );
    this.tree.setAttribute('aria-label', `Loop nest of ${session.workload.name}`);
    const parents = new Set(session.rows.map(row => row.parent));
    const lines = visibleRows(session, collapsed).map((row, index) => {
      const folded = collapsed.has(row.id);
      const line = drawRow(row, parents.has(row.id), folded);
      line.id = `${this._id}-${index}`;
      line.setAttribute('aria-selected', String(row.id === selected));
      return line;
    });
    this._moving = null;
    this.tree.replaceChildren(...lines);
    const active = lines.find(line => line.getAttribute('aria-selected') === 'true');
    this.tree.setAttribute('aria-activedescendant', active?.id ?? '');
  }

  /** Paint every place where the lifted line may go or not, before it is let go. */
  private _showPlaces(moving: IMoving | null): void {
    if (moving === this._moving) {
      return;
    }
    this._moving = moving;
    this.tree.classList.toggle('tvmlab-moving', moving !== null);
    this.tree.querySelectorAll('.tvmlab-slot').forEach(slot => slot.remove());
    const lines = new Map(
      [...this.tree.querySelectorAll<HTMLElement>('.tvmlab-row')].map(line => [
        line.dataset['row'],
        line
      ])
    );
    for (const [row, line] of lines) {
      line.classList.toggle('tvmlab-lifted', row === moving?.row);
    }
    for (const slot of moving?.slots ?? []) {
      lines.get(slot.row)?.append(
        h(
          'span',
          {
            class: 'tvmlab-slot',
            'data-status': slot.status,
            'data-place': slot.place,
            'data-at': String(slot === moving?.at)
          },
          h('b', {}, `${SLOT_SIGNS[slot.status]} ${slot === moving?.at ? slotWords(slot) : ''}`)
        )
      );
    }
  }

  /** The lines that a line of code comes from: its own, and those around it. */
  private _showLinked(pointed: readonly string[]): void {
    if (pointed !== this._pointed) {
      this._pointed = pointed;
      for (const line of this.tree.querySelectorAll<HTMLElement>('.tvmlab-row')) {
        const at = pointed.indexOf(line.dataset['row'] ?? '');
        line.classList.toggle('tvmlab-linked', at === 0);
        line.classList.toggle('tvmlab-around', at > 0);
      }
    }
  }

  private _pointed: readonly string[] = [];
  private _moving: IMoving | null = null;
  private readonly _id = uniqueId('row');
  private readonly _caption = h('div', { class: 'tvmlab-cap' });
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function legend(known: boolean): HTMLElement {
  if (!known) {
    return h('span', {}, 'cost not estimated');
  }
  return h(
    'span',
    { class: 'tvmlab-legend' },
    h('span', {}, h('i'), 'compute'),
    h('span', { class: 'tvmlab-moved' }, h('i'), 'data moved'),
    h('span', {}, 'estimated share')
  );
}

function drawRow(row: Row, hasInner: boolean, folded: boolean): HTMLElement {
  const kind =
    row.type === 'loop' && row.kind === 'serial' && row.reduction ? 'reduction' : row.kind;
  const letter = kind === 'reduction' ? 'R' : LETTERS[row.kind];
  return h(
    'div',
    {
      class: 'tvmlab-row',
      role: 'treeitem',
      'data-row': row.id,
      'aria-level': row.depth + 1,
      'aria-expanded': hasInner ? String(!folded) : null,
      'aria-label': describe(row)
    },
    h('span', { class: 'tvmlab-kind', 'data-kind': kind, title: kindTitle(row) }, letter),
    h(
      'span',
      { class: 'tvmlab-text', style: `--depth:${row.depth}` },
      ...words(row),
      folded && dim(' …')
    ),
    row.cost ? costs(row.cost) : h('span')
  );
}

function dim(text: string): HTMLElement {
  return h('span', { class: 'tvmlab-dim' }, text);
}

function remarkOf(type: Row['type'], note: string): string {
  return type === 'loop' ? `  # ${note}` : `  ${note}`;
}

function mark(text: string): HTMLElement {
  return h('span', { class: 'tvmlab-mark' }, text);
}

/** The memory that a buffer lives in, in the colour of those who share it. */
function scope(name: string | null): (Node | string)[] {
  return name === null
    ? []
    : ['  ', h('span', { class: 'tvmlab-scope', 'data-scope': name.split('.')[0] }, name)];
}

function words(row: Row): (Node | string)[] {
  const name = h('span', { class: 'tvmlab-name' }, row.name);
  const bound = row.kind === 'thread' || row.kind === 'grid';
  const remark = row.note === null || bound ? [] : [dim(remarkOf(row.type, row.note))];
  const note = [...remark, ...row.marks.map(mark)];
  if (row.type === 'loop') {
    const call = CALLS[row.kind];
    const extent = h(
      'span',
      { class: 'tvmlab-extent' },
      row.extent === null ? row.text : String(row.extent)
    );
    const tag =
      bound && row.note !== null ? [', ', h('span', { class: 'tvmlab-tag-name' }, row.note)] : [];
    const range = call === undefined ? [extent] : [`${call}(`, extent, ...tag, ')'];
    return [dim('for '), name, dim(' in '), ...range, ...note];
  }
  if (row.type !== 'buffer') {
    return [name, row.text, ...note];
  }
  const size =
    row.bytes === null ? [] : [dim(`${row.scope === null ? '  ' : ' · '}${bytes(row.bytes)}`)];
  return [name, dim(': '), row.text, ...scope(row.scope), ...size, ...note];
}

/** The two costs: inclusive pale, the line's own share full. */
function costs(cost: Cost): HTMLElement {
  const bar = (share: number, side: string, total: boolean): HTMLElement =>
    h('i', {
      class: total ? `${side} tvmlab-total` : side,
      style: `width:${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`
    });
  const title =
    `compute ${percent(cost.compute)} (own ${percent(cost.compute_own)}), ` +
    `data moved ${percent(cost.moved)} (own ${percent(cost.moved_own)}), time ${percent(cost.time)}`;
  return h(
    'span',
    { class: 'tvmlab-costs', title },
    h(
      'span',
      { class: 'tvmlab-bar' },
      bar(cost.compute, 'tvmlab-c', true),
      bar(cost.compute_own, 'tvmlab-c', false),
      bar(cost.moved, 'tvmlab-m', true),
      bar(cost.moved_own, 'tvmlab-m', false)
    ),
    h('span', { class: 'tvmlab-pc' }, percent(cost.time))
  );
}

const KIND_WORDS: Partial<Record<Row['kind'], string>> = {
  grid: 'groups of threads',
  thread: 'threads of a group',
  virtual: 'interleaved virtual threads',
  let: 'named value',
  call: 'call of outside code'
};

function kindTitle(row: Row): string {
  const kind = KIND_WORDS[row.kind] ?? row.kind;
  return row.type === 'loop' && row.reduction ? `${kind}, reduction` : kind;
}

/** The line as a sentence, for those who listen. */
function describe(row: Row): string {
  const parts: string[] = [];
  if (row.type === 'loop') {
    parts.push(`${kindTitle(row)} loop ${row.name}`);
    if (row.extent !== null) {
      parts.push(`${count(row.extent)} iterations`);
    }
  } else if (row.type === 'block') {
    parts.push(`block ${row.name} ${row.text}`);
  } else if (row.type === 'statement') {
    parts.push(`${row.kind} ${row.name} ${row.text}`);
  } else {
    parts.push(`buffer ${row.name}, ${row.text}`, ...(row.scope === null ? [] : [row.scope]));
  }
  if (row.note !== null) {
    parts.push(row.note);
  }
  parts.push(...row.marks);
  if (row.cost) {
    parts.push(`${percent(row.cost.time)} of the time`);
  }
  return parts.join(', ');
}

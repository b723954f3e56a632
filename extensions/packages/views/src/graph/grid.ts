import type { GraphNode, GraphRow, GraphTime } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h, uniqueId } from '../dom';
import { percent, rate, time } from '../format';
import { VirtualLines } from '../virtualLines';
import { drawLanes, drawPassing, lanesWidth, ROW_HEIGHT } from './lanes';
import { KINDS } from './words';

/** A line of the grid: a kernel, or one of its nodes. */
interface ILine {
  row: GraphRow;
  node: GraphNode | null;
  place: number;
  of: number;
}

/**
 * The kernels of a graph in the order of a run, each with its nodes below it when it is open.
 *
 * A tree grid: the element has the focus, and names the active line. Only lines in sight are on
 * the page, so that a graph of thousands of kernels scrolls as a small one does.
 */
export class Grid {
  constructor(private readonly _onActive: (row: GraphRow | null) => void) {
    this.element = h(
      'div',
      { class: 'tvmlab-graph' },
      this._head,
      this.body,
      (this._empty = h('p', { class: 'tvmlab-why tvmlab-none', role: 'status', hidden: true }))
    );
    this._lines = new VirtualLines(this.body, ROW_HEIGHT);
    this._lines.onLine = (line, index) => this._mark(line, index);
  }

  readonly element: HTMLElement;
  readonly body = h('div', {
    class: 'tvmlab-grid',
    role: 'treegrid',
    tabindex: 0,
    'aria-label': t('Kernels of the graph')
  });

  /** The kernel of the active line. */
  get active(): GraphRow | null {
    return this._shown[this._at]?.row ?? null;
  }

  /** Show rows, or only those that a search finds. */
  show(rows: readonly GraphRow[], query: string): number {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length === 0 ? rows : rows.filter(row => matches(row, words));
    const kept = this._shown[this._at];
    this._whole = found.length === rows.length;
    this._width = lanesWidth(rows);
    this._shown = found.flatMap((row, n) => this._linesOf(row, n, found.length));
    this._at = Math.max(
      0,
      this._shown.findIndex(({ row, node }) => row.id === kept?.row.id && sameNode(node, kept.node))
    );
    this.element.style.setProperty('--lanes', `${this._whole ? this._width : 0}px`);
    // As tall as a small graph needs, so that nothing below it is far away.
    const lines = Math.max(10, Math.min(18, this._whole ? this._shown.length : rows.length));
    this.body.style.height = `${lines * ROW_HEIGHT}px`;
    this.body.setAttribute('aria-rowcount', String(this._shown.length));
    this._lines.show(this._shown.length, index => this._draw(index));
    this._empty.toggleAttribute('hidden', found.length > 0);
    this._empty.textContent = t('No kernel has “%1” in its name, operators or shapes.', query);
    this._point();
    return found.length;
  }

  /** Go to a line by its place. */
  go(index: number): void {
    this._at = Math.max(0, Math.min(this._shown.length - 1, index));
    this._lines.reveal(this._at);
    this._point();
  }

  /** Go some lines on, or to an end. */
  move(by: number): void {
    this.go(this._at + by);
  }

  /** Go to a kernel. */
  select(row: string): void {
    const index = this._shown.findIndex(line => line.row.id === row && line.node === null);
    if (index >= 0) {
      this.go(index);
    }
  }

  /** Open or close the active kernel; closing a node's kernel goes to the kernel. */
  fold(close: boolean): boolean {
    const line = this._shown[this._at];
    if (line === undefined || line.row.nodes.length < 2) {
      return false;
    }
    if (close) {
      this._open.delete(line.row.id);
    } else {
      this._open.add(line.row.id);
    }
    this.select(line.row.id);
    return true;
  }

  isOpen(row: string): boolean {
    return this._open.has(row);
  }

  private _linesOf(row: GraphRow, place: number, of: number): ILine[] {
    const line = { row, node: null, place: place + 1, of };
    if (!this._open.has(row.id)) {
      return [line];
    }
    const nodes = row.nodes.map((node, n) => ({ row, node, place: n + 1, of: row.nodes.length }));
    return [line, ...nodes];
  }

  private _draw(index: number): HTMLElement {
    const line = this._shown[index];
    if (line === undefined) {
      return h('div');
    }
    const cells = line.node === null ? this._kernel(line.row) : this._node(line.row, line.node);
    const opens = line.node === null && line.row.nodes.length > 1;
    return h(
      'div',
      {
        class: line.node === null ? 'tvmlab-grow-row' : 'tvmlab-grow-row tvmlab-sub',
        role: 'row',
        id: `${this._id}-${line.row.id}-${line.node === null ? '' : line.place}`,
        'data-line': index,
        'aria-level': line.node === null ? 1 : 2,
        'aria-posinset': line.place,
        'aria-setsize': line.of,
        'aria-rowindex': index + 1,
        'aria-expanded': opens ? String(this._open.has(line.row.id)) : null
      },
      ...cells
    );
  }

  private _kernel(row: GraphRow): HTMLElement[] {
    const [letter, kind] = KINDS[row.kind];
    const words = t(kind);
    const opens = row.nodes.length > 1;
    return [
      h(
        'span',
        { role: 'gridcell', class: 'tvmlab-what', title: row.name },
        this._whole && drawLanes(row.lanes, this._width),
        h(
          'i',
          { class: 'tvmlab-twisty', 'data-fold': row.id, 'aria-hidden': 'true' },
          opens ? (this._open.has(row.id) ? '▾' : '▸') : ''
        ),
        h('b', { class: 'tvmlab-kind', 'data-class': row.kind, title: words }, letter),
        h('span', { class: 'tvmlab-hidden' }, `${words}: `),
        h('span', { class: 'tvmlab-name' }, row.name)
      ),
      h('span', { role: 'gridcell', class: 'tvmlab-ops' }, operators(row.ops)),
      typeCell(row.outputs[0]?.type ?? ''),
      timeCell(row.time),
      h(
        'span',
        { role: 'gridcell', class: 'tvmlab-from', 'data-from': row.schedule },
        row.schedule === 'default'
          ? ''
          : row.schedule === 'pinned'
            ? `⚲ ${t('pinned')}`
            : t('tuned')
      )
    ];
  }

  private _node({ lanes }: GraphRow, node: GraphNode): HTMLElement[] {
    const passing = lanes.out ? [...lanes.through, lanes.column] : lanes.through;
    return [
      h(
        'span',
        { role: 'gridcell', class: 'tvmlab-what', title: node.name },
        this._whole && drawPassing(passing, this._width),
        h('span', { class: 'tvmlab-name' }, node.name || node.op)
      ),
      h('span', { role: 'gridcell', class: 'tvmlab-ops', title: node.attrs }, node.op),
      typeCell(node.type),
      h('span', { role: 'gridcell', class: 'tvmlab-attrs', title: node.attrs }, node.attrs)
    ];
  }

  private _mark(line: HTMLElement, index: number): void {
    line.setAttribute('aria-selected', String(index === this._at));
  }

  private _point(): void {
    this._lines.forEach((line, index) => this._mark(line, index));
    const line = this._shown[this._at];
    if (line === undefined) {
      this.body.removeAttribute('aria-activedescendant');
    } else {
      const id = `${this._id}-${line.row.id}-${line.node === null ? '' : line.place}`;
      this.body.setAttribute('aria-activedescendant', id);
    }
    this._onActive(line?.row ?? null);
  }

  private readonly _id = uniqueId('kernel');
  private readonly _head = h(
    'div',
    { class: 'tvmlab-grow-row tvmlab-titles', 'aria-hidden': 'true' },
    ...[t('kernel'), t('operators'), t('result'), t('time'), t('schedule')].map(name =>
      h('span', {}, name)
    )
  );
  private readonly _empty: HTMLElement;
  private readonly _lines: VirtualLines;
  private readonly _open = new Set<string>();
  private _shown: readonly ILine[] = [];
  private _at = 0;
  private _whole = true;
  private _width = 0;
}

function sameNode(a: GraphNode | null, b: GraphNode | null): boolean {
  return a?.name === b?.name && a?.op === b?.op;
}

function matches(row: GraphRow, words: readonly string[]): boolean {
  const text = [
    row.name,
    row.kernel,
    row.schedule,
    KINDS[row.kind][1],
    ...row.nodes.flatMap(node => [node.name, node.op, node.type])
  ]
    .join(' ')
    .toLowerCase();
  return words.every(word => text.includes(word));
}

/** Operators in order, repeated ones counted: `conv add relu`, `add ×3`. */
function operators(ops: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const op of ops) {
    counts.set(op, (counts.get(op) ?? 0) + 1);
  }
  return [...counts].map(([op, count]) => (count > 1 ? `${op} ×${count}` : op)).join(' · ');
}

/** A type in short, `f32 1×64×56`, and in full where the pointer rests. */
function typeCell(type: string): HTMLElement {
  const short = type
    .replace(/^float/, 'f')
    .replace(/^uint/, 'u')
    .replace(/^int/, 'i')
    .replace(/\[(.*)\]/, (_, sizes: string) => ` ${sizes.replaceAll(', ', '×')}`);
  return h('span', { role: 'gridcell', class: 'tvmlab-type', title: type }, short);
}

function timeCell(found: GraphTime | null): HTMLElement {
  if (found === null) {
    return h('span', { role: 'gridcell', class: 'tvmlab-cost tvmlab-dim' }, '–');
  }
  const bar = h('i', { class: 'tvmlab-share', 'aria-hidden': 'true' });
  bar.style.setProperty('--share', `${Math.max(1, 100 * found.share)}%`);
  return h(
    'span',
    { role: 'gridcell', class: 'tvmlab-cost', title: rate(found.gflops) },
    bar,
    h('span', {}, time(found.seconds)),
    h('span', { class: 'tvmlab-dim' }, percent(found.share))
  );
}

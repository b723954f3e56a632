import type { Row, Slot } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h, uniqueId } from '../dom';
import { type IMoving, SLOT_SIGNS, slotWords } from '../moving';
import { type IViewState, visibleRows } from '../viewState';
import { VirtualLines } from '../virtualLines';
import { costStyle, legend } from './costs';
import { blocksText, loopsText } from '../plurals';
import { drawRow } from './line';
import { Part } from './part';

const LINE_HEIGHT = 25;

/** The loop nest, a line for each loop, block and buffer, with costs in the margin. */
export class Nest extends Part<IViewState> {
  constructor() {
    super(h('section', { class: 'tvmlab-nest', 'aria-label': t('Loop nest') }));
    this.element.append(this._caption, this.tree);
    this._lines.onLine = line => this._dress(line);
  }

  /** What has the focus while lines are walked with the arrow keys. */
  readonly tree = h('div', { class: 'tvmlab-tree', role: 'tree', tabindex: 0 });

  override render(view: IViewState): void {
    const moved = view.moving !== this._moving;
    const pointed = view.pointed !== this._pointed;
    this._moving = view.moving;
    this._pointed = view.pointed;
    super.render(view);
    if (moved || pointed) {
      this.tree.classList.toggle('tvmlab-moving', view.moving !== null);
      this._lines.forEach(line => this._dress(line));
    }
    this._reveal(view);
  }

  protected inputs(view: IViewState): readonly unknown[] {
    const { session, selected, collapsed } = view;
    const { metric, scale, seconds, shares } = costStyle(view);
    return [session.rows, selected, collapsed, metric, scale, seconds, shares];
  }

  protected draw(view: IViewState): void {
    const { session, selected, collapsed } = view;
    const style = costStyle(view);
    if (session.rows !== this._counted) {
      this._counted = session.rows;
      const loops = session.rows.filter(row => row.type === 'loop').length;
      const blocks = session.rows.filter(row => row.type === 'block').length;
      this._caption.replaceChildren(
        h('span', {}, t('Loop nest · %1, %2', loopsText(loops), blocksText(blocks))),
        legend(
          session.rows.some(row => row.cost !== null),
          style
        )
      );
      this._siblings = siblingsOf(session.rows);
      this._shown = null;
    }
    this.tree.setAttribute('aria-label', t('Loop nest of %1', session.workload.name));
    if (collapsed !== this._collapsed || this._shown === null) {
      this._collapsed = collapsed;
      this._shown = visibleRows(session, collapsed);
    }
    const rows = this._shown;
    this._lines.show(rows.length, index => {
      const row = rows[index] as Row;
      const line = drawRow(row, this._siblings.has(row.id), collapsed.has(row.id), style);
      // Lines out of sight are not on the page, so a line says itself which of how many it is.
      const siblings = this._siblings.get(row.parent) ?? [];
      line.setAttribute('aria-setsize', String(siblings.length));
      line.setAttribute('aria-posinset', String(siblings.indexOf(row.id) + 1));
      line.id = `${this._id}-${index}`;
      line.setAttribute('aria-selected', String(row.id === selected));
      return line;
    });
    const at = rows.findIndex(row => row.id === selected);
    this.tree.setAttribute('aria-activedescendant', at < 0 ? '' : `${this._id}-${at}`);
  }

  /** Bring another selected line into sight. */
  private _reveal({ selected, moving }: IViewState): void {
    const wanted = moving?.at?.row ?? selected;
    if (wanted !== this._revealed) {
      this._revealed = wanted;
      const at = this._shown?.findIndex(row => row.id === wanted) ?? -1;
      if (at >= 0) {
        this._lines.reveal(at);
      }
    }
  }

  /** What is said of a line for a moment: where a lifted one may go, where code comes from. */
  private _dress(line: HTMLElement): void {
    const row = line.dataset['row'] ?? '';
    const moving = this._moving;
    line.classList.toggle('tvmlab-lifted', row === moving?.row);
    line.querySelectorAll('.tvmlab-slot').forEach(slot => slot.remove());
    line.append(
      ...(moving?.slots ?? []).filter(slot => slot.row === row).map(slot => place(slot, moving))
    );
    const at = this._pointed.indexOf(row);
    line.classList.toggle('tvmlab-linked', at === 0);
    line.classList.toggle('tvmlab-around', at > 0);
  }

  private _pointed: readonly string[] = [];
  private _moving: IMoving | null = null;
  private _counted: readonly Row[] | null = null;
  private _collapsed: ReadonlySet<string> | null = null;
  private _shown: readonly Row[] | null = null;
  private _revealed: string | null = null;
  private _siblings: ReadonlyMap<string | null, readonly string[]> = new Map();
  private readonly _id = uniqueId('row');
  private readonly _caption = h('div', { class: 'tvmlab-cap' });
  private readonly _lines = new VirtualLines(this.tree, LINE_HEIGHT);
}

/** The lines inside each line, in their order. */
function siblingsOf(rows: readonly Row[]): Map<string | null, string[]> {
  const found = new Map<string | null, string[]>();
  for (const { id, parent } of rows) {
    const known = found.get(parent);
    if (known) {
      known.push(id);
    } else {
      found.set(parent, [id]);
    }
  }
  return found;
}

/** A place where the lifted line may go or not, painted before it is let go. */
function place(slot: Slot, moving: IMoving | null): HTMLElement {
  const at = slot === moving?.at;
  return h(
    'span',
    {
      class: 'tvmlab-slot',
      'data-status': slot.status,
      'data-place': slot.place,
      'data-at': String(at)
    },
    h('b', {}, `${SLOT_SIGNS[slot.status]} ${at ? slotWords(slot) : ''}`)
  );
}

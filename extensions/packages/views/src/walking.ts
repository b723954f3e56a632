import { type IViewState, rowOf, visibleRows } from './viewState';

/** The visible line so many below (or above) the selected one. */
export function lineBelow(view: IViewState, by: number): string | null {
  const rows = visibleRows(view.session, view.collapsed);
  const at = rows.findIndex(row => row.id === view.selected);
  const to = Math.min(Math.max(at + by, 0), rows.length - 1);
  return rows[to]?.id ?? null;
}

/** What folding or unfolding the selected line does: other lines are folded, or another is chosen. */
export function foldingOf(
  view: IViewState,
  open: boolean
): { collapsed: ReadonlySet<string> } | { collapsed?: never; select: string } | null {
  const row = rowOf(view.session, view.selected);
  if (!row) {
    return null;
  }
  const inner = view.session.rows.find(other => other.parent === row.id);
  if (!inner || view.collapsed.has(row.id) !== open) {
    return { select: (open ? inner?.id : row.parent) ?? row.id };
  }
  const collapsed = new Set(view.collapsed);
  if (open) {
    collapsed.delete(row.id);
  } else {
    collapsed.add(row.id);
  }
  return { collapsed };
}

/** What Escape closes: the innermost of what is open; null if nothing is. */
export function closing(
  open: Pick<IViewState, 'help' | 'naming' | 'palette' | 'draft' | 'refusal'>
): Partial<IViewState> | null {
  const { help, naming, palette, draft, refusal } = open;
  if (help || naming || palette) {
    return { help: false, naming: false, palette: false };
  }
  return draft !== null ? { draft: null } : refusal !== null ? { refusal: null } : null;
}

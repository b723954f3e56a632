import { treeOf } from './dom';

/** The data attributes by which controls are found again after a redraw. */
const NAMES = [
  'row',
  'command',
  'action',
  'node',
  'tab',
  'insight',
  'set',
  'pick',
  'suggested',
  'point',
  'fix',
  'family'
] as const;

/**
 * Keeps the keyboard where it is while parts redraw themselves.
 *
 * A control that was drawn anew gets the focus back; if it has gone, or can do nothing any more,
 * the focus goes to the nest, never to the page.
 */
export class FocusKeeper {
  constructor(
    private readonly _root: HTMLElement,
    private readonly _fallback: () => void
  ) {}

  /** Draw something without losing the focus. */
  around(draw: () => void): void {
    const held = this._active();
    const selector = held && selectorOf(held);
    draw();
    if (held === null || isUsable(this._active())) {
      return;
    }
    const again =
      selector === null
        ? null
        : [...this._root.querySelectorAll<HTMLElement>(selector)].find(element =>
            isUsable(element)
          );
    if (again) {
      again.focus({ preventScroll: true });
    } else {
      this._fallback();
    }
  }

  /** The element in this view that has the focus, also where the host has put it in a shadow tree. */
  private _active(): HTMLElement | null {
    const { activeElement } = treeOf(this._root);
    return activeElement instanceof HTMLElement && this._root.contains(activeElement)
      ? activeElement
      : null;
  }
}

/** Whether a control is there, and does something when a key is pressed. */
function isUsable(element: HTMLElement | null): boolean {
  return element !== null && !element.matches(':disabled') && element.closest('[hidden]') === null;
}

/** How a control, or a line of the nest, is found again after it was drawn anew. */
export function selectorOf(element: HTMLElement): string | null {
  const owner = element.tagName === 'SUMMARY' ? element.parentElement : element;
  for (const name of NAMES) {
    const value = owner?.getAttribute(`data-${name}`);
    if (value !== null && value !== undefined) {
      const own = `[data-${name}=${JSON.stringify(value)}]`;
      return owner === element ? own : `${own} > summary`;
    }
  }
  return null;
}

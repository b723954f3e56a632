import { closestData, h, treeOf } from './dom';
import type { Mover } from './mover';

/** How far the pointer goes before a press is a drag, in pixels. */
const SLACK = 4;
/** How near to the edge of the nest the pointer scrolls it, in pixels. */
const EDGE = 24;

/**
 * Moving lines with the pointer: press, see where the line may go, let go.
 *
 * Listens at the tree alone; the verdicts of all places come from the session when the drag
 * begins, so following the pointer asks nobody.
 */
export class Drag {
  constructor(tree: HTMLElement, mover: () => Mover) {
    this._tree = tree;
    this._mover = mover;
    tree.addEventListener('pointerdown', event => this._down(event));
    tree.addEventListener('pointermove', event => this._move(event));
    tree.addEventListener('pointerup', event => this._up(event));
    // A press here takes a line up; it marks no text.
    tree.addEventListener('selectstart', event => event.preventDefault());
    tree.addEventListener('pointercancel', () => this._end());
    tree.addEventListener('lostpointercapture', () => this._end());
  }

  /** Whether the press that has just ended was a drag, and so is no click. */
  get dragged(): boolean {
    return this._dragged;
  }

  private _down(event: PointerEvent): void {
    const row = closestData(event.target, 'row');
    this._dragged = false;
    if (row !== null && event.button === 0 && event.pointerType !== 'touch') {
      this._start = { row: row.value, x: event.clientX, y: event.clientY };
    }
  }

  private _move(event: PointerEvent): void {
    const start = this._start;
    if (start === null) {
      return;
    }
    if (!this._dragged) {
      if (Math.hypot(event.clientX - start.x, event.clientY - start.y) < SLACK) {
        return;
      }
      this._dragged = true;
      this._tree.setPointerCapture(event.pointerId);
      this._mover().lift(start.row);
      this._ghost.textContent = this._mover().moving?.name ?? '';
      this._tree.append(this._ghost);
    }
    const box = this._tree.getBoundingClientRect();
    this._ghost.style.transform = `translate(${event.clientX - box.left + 14}px, ${event.clientY - box.top + this._tree.scrollTop + 8}px)`;
    // A long nest comes along when the pointer nears its edge.
    const beyond =
      Math.min(0, event.clientY - box.top - EDGE) || Math.max(0, event.clientY - box.bottom + EDGE);
    this._tree.scrollTop += beyond / 2;
    this._over(event.clientX, event.clientY);
  }

  /** Find the place under the pointer. */
  private _over(x: number, y: number): void {
    const under = treeOf(this._tree).elementFromPoint(x, y);
    const row = closestData(under, 'row');
    if (row === null || !this._tree.contains(row.element)) {
      this._mover().hover(null, false);
      return;
    }
    const box = row.element.getBoundingClientRect();
    this._mover().hover(row.value, y > box.top + box.height / 2);
  }

  private _up(event: PointerEvent): void {
    if (this._dragged) {
      this._over(event.clientX, event.clientY);
      void this._mover().drop();
    }
    this._finish();
  }

  private _end(): void {
    if (this._start !== null && this._dragged) {
      this._mover().cancel();
    }
    this._finish();
  }

  private _finish(): void {
    this._start = null;
    this._ghost.remove();
  }

  private readonly _tree: HTMLElement;
  private readonly _mover: () => Mover;
  private readonly _ghost = h('span', { class: 'tvmlab-ghost', 'aria-hidden': 'true' });
  private _start: { row: string; x: number; y: number } | null = null;
  private _dragged = false;
}

import { BOTTOM, LEFT, RIGHT, TOP, WIDTH } from './frame';
import type { PlotWindow } from './window';

/** How far the pointer goes before a press moves the plot, in pixels of the screen. */
const SLACK = 4;

/** Moving and magnifying a plot: by dragging, by the wheel with Ctrl, by keys. */
export class Panning {
  constructor(
    private readonly _box: HTMLElement,
    private readonly _window: PlotWindow,
    private readonly _redraw: () => void
  ) {
    _box.addEventListener('pointerdown', event => this._down(event));
    _box.addEventListener('pointermove', event => this._move(event));
    _box.addEventListener('pointerup', () => (this._from = null));
    _box.addEventListener('pointerleave', () => (this._from = null));
    // A press that has moved the plot opens no point.
    _box.addEventListener('click', event => this._moved && event.stopPropagation());
    _box.addEventListener('wheel', event => this._wheel(event), { passive: false });
    _box.addEventListener('dblclick', () => this._show(() => _window.reset()));
  }

  /** Carry out a key; false if it is none of these. */
  key(event: KeyboardEvent): boolean {
    const step = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const [right, up] = (event.shiftKey && step[event.key as keyof typeof step]) || [0, 0];
    if (right !== 0 || up !== 0) {
      this._show(() => this._window.move(0.2 * (right ?? 0), 0.2 * (up ?? 0)));
    } else if (event.key === '+' || event.key === '-') {
      this._show(() => this._window.zoom(event.key === '+' ? 1.5 : 1 / 1.5));
    } else if (event.key === '0') {
      this._show(() => this._window.reset());
    } else {
      return false;
    }
    return true;
  }

  /** Whether the plane is held by the pointer. */
  get held(): boolean {
    return this._from !== null && this._moved;
  }

  /** A place of the screen in pixels of the drawing. */
  place({ clientX, clientY }: MouseEvent): { x: number; y: number } {
    const box = this._box.getBoundingClientRect();
    const scale = this._scale();
    return { x: (clientX - box.left) * scale, y: (clientY - box.top) * scale };
  }

  private _down(event: PointerEvent): void {
    this._moved = false;
    if (event.button === 0) {
      this._from = { x: event.clientX, y: event.clientY };
    }
  }

  private _move(event: PointerEvent): void {
    const from = this._from;
    if (from === null) {
      return;
    }
    const [right, down] = [event.clientX - from.x, event.clientY - from.y];
    if (this._moved || Math.hypot(right, down) >= SLACK) {
      this._moved = true;
      this._from = { x: event.clientX, y: event.clientY };
      const scale = this._scale();
      this._show(() =>
        this._window.move((right * scale) / (RIGHT - LEFT), (-down * scale) / (BOTTOM - TOP))
      );
    }
  }

  /** The wheel alone scrolls the notebook, as everywhere; with Ctrl it magnifies. */
  private _wheel(event: WheelEvent): void {
    if (event.ctrlKey) {
      event.preventDefault();
      const { x, y } = this.place(event);
      const [right, up] = [(x - LEFT) / (RIGHT - LEFT), (BOTTOM - y) / (BOTTOM - TOP)];
      this._show(() => this._window.zoom(2 ** (-event.deltaY / 200), right, up));
    }
  }

  /** Change what part is seen, and draw it with the next frame. */
  private _show(change: () => void): void {
    change();
    if (!this._waiting) {
      this._waiting = true;
      requestAnimationFrame(() => {
        this._waiting = false;
        this._redraw();
      });
    }
  }

  private _scale(): number {
    const { width } = this._box.getBoundingClientRect();
    return width > 0 ? WIDTH / width : 1;
  }

  private _from: { x: number; y: number } | null = null;
  private _moved = false;
  private _waiting = false;
}

import { h } from '../dom';
import { BOTTOM, LEFT, RIGHT, TOP, WIDTH } from './frame';
import type { PlotWindow } from './window';

/** Least and most measured, then least and most predicted. */
export type Region = readonly [number, number, number, number];

/** Marking a region of a plot with the pointer, while that is switched on. */
export class Brushing {
  constructor(
    private readonly _box: HTMLElement,
    private readonly _window: PlotWindow,
    private readonly _chosen: (region: Region) => void
  ) {
    _box.append(this._mark);
    // Before those who move the plot: a press means one of the two.
    _box.addEventListener('pointerdown', event => this._down(event), true);
    _box.addEventListener('pointermove', event => this._move(event), true);
    _box.addEventListener('pointerup', event => this._up(event), true);
    _box.addEventListener('click', event => this.on && event.stopPropagation(), true);
  }

  get on(): boolean {
    return this._on;
  }

  switch(on: boolean): void {
    this._on = on;
    this._box.classList.toggle('tvmlab-brushing', on);
    this._from = null;
    this._mark.setAttribute('hidden', '');
  }

  private _down(event: PointerEvent): void {
    if (this._on && event.button === 0) {
      event.stopPropagation();
      event.preventDefault();
      this._from = this._place(event);
      this._box.setPointerCapture(event.pointerId);
    }
  }

  private _move(event: PointerEvent): void {
    if (this._from !== null) {
      event.stopPropagation();
      const [left, right, top, bottom] = this._corners(event);
      this._mark.removeAttribute('hidden');
      const share = (value: number): string => `${((100 * value) / WIDTH).toFixed(2)}%`;
      // The drawing fills the width of its box; its height follows.
      this._mark.style.left = share(left);
      this._mark.style.width = share(right - left);
      const scale = this._box.getBoundingClientRect().width / WIDTH;
      this._mark.style.top = `${(top * scale).toFixed(1)}px`;
      this._mark.style.height = `${((bottom - top) * scale).toFixed(1)}px`;
    }
  }

  private _up(event: PointerEvent): void {
    if (this._from !== null) {
      event.stopPropagation();
      const [left, right, top, bottom] = this._corners(event);
      this._from = null;
      if (right > left && bottom > top) {
        const { x, y } = this._window;
        const across = (px: number): number =>
          x[0] + ((x[1] - x[0]) * (px - LEFT)) / (RIGHT - LEFT);
        const up = (py: number): number => y[0] + ((y[1] - y[0]) * (BOTTOM - py)) / (BOTTOM - TOP);
        this._chosen([across(left), across(right), up(bottom), up(top)]);
      }
    }
  }

  private _corners(event: PointerEvent): [number, number, number, number] {
    const to = this._place(event);
    const from = this._from ?? to;
    return [
      Math.max(LEFT, Math.min(from.x, to.x)),
      Math.min(RIGHT, Math.max(from.x, to.x)),
      Math.max(TOP, Math.min(from.y, to.y)),
      Math.min(BOTTOM, Math.max(from.y, to.y))
    ];
  }

  /** Where the pointer is, in pixels of the drawing. */
  private _place({ clientX, clientY }: PointerEvent): { x: number; y: number } {
    const { left, top, width } = this._box.getBoundingClientRect();
    const scale = width > 0 ? WIDTH / width : 1;
    return { x: (clientX - left) * scale, y: (clientY - top) * scale };
  }

  private _on = false;
  private _from: { x: number; y: number } | null = null;
  private readonly _mark = h('div', { class: 'tvmlab-brush', hidden: true, 'aria-hidden': 'true' });
}

import type { Range } from './scale';

/** The part of a plot's plane that is seen: moved and magnified, within what there is to see. */
export class PlotWindow {
  /** Show everything from zero to a value, in both directions. */
  fit(top: number): void {
    if (top !== this._top) {
      this._top = top;
      this.reset();
    }
  }

  reset(): void {
    this._left = 0;
    this._bottom = 0;
    this._span = this._top;
  }

  get x(): Range {
    return [this._left, this._left + this._span];
  }

  get y(): Range {
    return [this._bottom, this._bottom + this._span];
  }

  get isWhole(): boolean {
    return this._span === this._top && this._left === 0 && this._bottom === 0;
  }

  /** Move by shares of what is seen. */
  move(right: number, up: number): void {
    this._left -= right * this._span;
    this._bottom -= up * this._span;
    this._clamp();
  }

  /** Magnify around a place, given in shares of what is seen. */
  zoom(factor: number, right = 0.5, up = 0.5): void {
    const span = Math.min(this._top, Math.max(this._top / MOST, this._span / factor));
    this._left += right * (this._span - span);
    this._bottom += up * (this._span - span);
    this._span = span;
    this._clamp();
  }

  private _clamp(): void {
    const reach = MARGIN * this._span;
    const most = this._top - this._span + reach;
    this._left = Math.min(Math.max(this._left, -reach), most);
    this._bottom = Math.min(Math.max(this._bottom, -reach), most);
    if (this._span === this._top && Math.hypot(this._left, this._bottom) < 1e-3 * this._top) {
      this.reset();
    }
  }

  private _top = 1;
  private _left = 0;
  private _bottom = 0;
  private _span = 1;
}

/** How often the whole may be magnified. */
const MOST = 200;
/** How far one may look beyond the edge, as a share of what is seen. */
const MARGIN = 0.25;

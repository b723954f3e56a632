import { h } from './dom';

/** How many lines are drawn beyond what is seen. */
const SPARE = 12;

/**
 * A long list of lines of equal height of which only those in sight are on the page.
 *
 * The element scrolls; `draw` makes one line. Lines that stay in sight are kept when the list is
 * shown again, so that scrolling moves what is there.
 */
export class VirtualLines {
  constructor(
    readonly element: HTMLElement,
    private readonly _height: number
  ) {
    element.append(this._space);
    this._space.append(this._window);
    element.addEventListener('scroll', () => this._show());
    if (typeof ResizeObserver !== 'undefined') {
      new ResizeObserver(() => this._show()).observe(element);
    }
  }

  /** Show so many lines. */
  show(count: number, draw: (index: number) => HTMLElement): void {
    this._count = count;
    this._draw = draw;
    this._drawn.clear();
    this._window.replaceChildren();
    this._space.style.height = `${count * this._height}px`;
    this._show();
  }

  /** Go over the lines that are on the page. */
  forEach(visit: (line: HTMLElement, index: number) => void): void {
    this._drawn.forEach((line, index) => visit(line, index));
  }

  /** Bring a line into sight, if it is not. */
  reveal(index: number): void {
    const top = index * this._height;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top + this._height > scrollTop + clientHeight) {
      this.element.scrollTop = Math.max(0, top - clientHeight / 3);
      this._show(); // the event of the scrolling comes later
    }
  }

  /** What to do with a line once it is on the page. */
  onLine: (line: HTMLElement, index: number) => void = () => undefined;

  private _show(): void {
    const { scrollTop, clientHeight } = this.element;
    // An element without a layout, as in tests, shows what a small screen would.
    const seen = Math.ceil((clientHeight || 400) / this._height);
    const first = Math.max(0, Math.floor(scrollTop / this._height) - SPARE);
    const last = Math.min(this._count, first + seen + 2 * SPARE);
    for (const [index, line] of this._drawn) {
      if (index < first || index >= last) {
        line.remove();
        this._drawn.delete(index);
      }
    }
    for (let index = first; index < last; index += 1) {
      if (!this._drawn.has(index)) {
        const line = this._draw(index);
        line.style.top = `${index * this._height}px`;
        this._drawn.set(index, line);
        this._window.append(line);
        this.onLine(line, index);
      }
    }
  }

  private readonly _space = h('div', { class: 'tvmlab-space' });
  private readonly _window = h('div');
  private readonly _drawn = new Map<number, HTMLElement>();
  private _count = 0;
  private _draw: (index: number) => HTMLElement = () => h('span');
}

import { t } from '../hostPage';
import { h, s } from '../dom';
import { scaleFromZero, tickText } from '../plot/scale';

/** A trial as a point of a chart. */
export interface IChartPoint {
  trial: number;
  x: number;
  y: number;
  /** The best one so far. */
  best: boolean;
  /** What is said when it is read. */
  text: string;
}

export interface IChartData {
  caption: string;
  note: string;
  x: string;
  y: string;
  /** The largest values that the axes must hold. */
  xTop: number;
  yTop: number;
  points: readonly IChartPoint[];
  /** Corners of a line over the points. */
  line: readonly (readonly [number, number])[];
  /** Whether to draw where both axes agree. */
  identity: boolean;
  empty: string;
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [360, 226, 46, 352, 8, 190];
/** How near the pointer must come to a point to read it, in pixels of the drawing. */
const REACH = 18;

/**
 * Trials as points. They are read with the pointer, or with the arrow keys once the chart has the
 * focus; a click or Enter opens one.
 */
export class Chart {
  readonly element: HTMLElement;

  constructor(label: string, onOpen: (trial: number) => void) {
    this._onOpen = onOpen;
    this.element = h(
      'section',
      { class: 'tvmlab-plot', 'aria-label': label },
      this._caption,
      this._drawing,
      this._readout
    );
    this._drawing.addEventListener('pointermove', event => this._point(event));
    this._drawing.addEventListener('pointerleave', () => this._read(null));
    this._drawing.addEventListener('click', event => {
      this._point(event);
      this._open();
    });
    this._drawing.addEventListener('keydown', event => this._key(event));
  }

  render(data: IChartData): void {
    const kept = this._reading === null ? null : this._data?.points[this._reading]?.trial;
    this._data = data;
    const x = scaleFromZero(data.xTop, LEFT, RIGHT);
    const y = scaleFromZero(data.yTop, BOTTOM, TOP);
    this._places = data.points.map(point => [x.at(point.x), y.at(point.y)]);
    this._caption.replaceChildren(h('span', {}, data.caption), h('span', {}, data.note));
    const count = data.points.length;
    this._drawing.setAttribute(
      'aria-label',
      t(
        '%1. %2 points: %3 over %4. Arrow keys read the points, Enter opens one.',
        data.caption,
        count,
        data.y,
        data.x
      )
    );
    const end = Math.min(x.ticks.at(-1) ?? 1, y.ticks.at(-1) ?? 1);
    const corners = data.line.map(([a, b]) => `${x.at(a).toFixed(1)},${y.at(b).toFixed(1)}`);
    this._drawing.replaceChildren(
      s('line', { class: 'tvmlab-axis', x1: LEFT, y1: BOTTOM, x2: RIGHT, y2: BOTTOM }),
      s('line', { class: 'tvmlab-axis', x1: LEFT, y1: TOP, x2: LEFT, y2: BOTTOM }),
      ...x.ticks.map(tick =>
        s('text', { x: x.at(tick), y: BOTTOM + 15, 'text-anchor': 'middle' }, tickText(tick))
      ),
      ...y.ticks.map(tick =>
        s('text', { x: LEFT - 7, y: y.at(tick) + 3.5, 'text-anchor': 'end' }, tickText(tick))
      ),
      ...y.ticks.map(tick =>
        s('line', {
          class: 'tvmlab-axis tvmlab-faint',
          x1: LEFT,
          y1: y.at(tick),
          x2: RIGHT,
          y2: y.at(tick)
        })
      ),
      s('text', { x: (LEFT + RIGHT) / 2, y: HEIGHT - 4, 'text-anchor': 'middle' }, data.x),
      s(
        'text',
        { x: 10, y: 100, 'text-anchor': 'middle', transform: 'rotate(-90 10 100)' },
        data.y
      ),
      ...(data.identity
        ? [
            s('line', {
              class: 'tvmlab-identity',
              x1: x.at(0),
              y1: y.at(0),
              x2: x.at(end),
              y2: y.at(end)
            })
          ]
        : []),
      ...this._marks(),
      s('polyline', { class: 'tvmlab-best-line', points: corners.join(' ') })
    );
    this._reading = null;
    const again = data.points.findIndex(point => point.trial === kept);
    this._readout.textContent = count === 0 && corners.length === 0 ? data.empty : '';
    this._read(again < 0 ? null : again);
  }

  private _marks(): SVGElement[] {
    return (this._data?.points ?? []).map((point, index) =>
      s('circle', {
        class: point.best ? 'tvmlab-point tvmlab-opens tvmlab-now' : 'tvmlab-point tvmlab-opens',
        'data-point': index,
        cx: this._places[index]?.[0].toFixed(1),
        cy: this._places[index]?.[1].toFixed(1),
        r: point.best ? 5 : 3
      })
    );
  }

  private _point(event: MouseEvent): void {
    const box = this._drawing.getBoundingClientRect();
    const scale = box.width > 0 ? Math.max(WIDTH / box.width, HEIGHT / box.height) : 1;
    const x = (event.clientX - box.left - (box.width - WIDTH / scale) / 2) * scale;
    const y = (event.clientY - box.top - (box.height - HEIGHT / scale) / 2) * scale;
    let nearest: number | null = null;
    let least = REACH;
    this._places.forEach(([px, py], index) => {
      const distance = Math.hypot(px - x, py - y);
      if (distance < least) {
        least = distance;
        nearest = index;
      }
    });
    this._read(nearest);
  }

  private _key(event: KeyboardEvent): void {
    const count = this._places.length;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (count > 0 && event.key === 'Enter') {
      this._open();
    } else if (count > 0 && step !== undefined) {
      const from = this._reading ?? (step > 0 ? -1 : count);
      this._read((from + step + count) % count);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private _open(): void {
    const point = this._reading === null ? undefined : this._data?.points[this._reading];
    if (point !== undefined) {
      this._onOpen(point.trial);
    }
  }

  private _read(index: number | null): void {
    if (index === this._reading) {
      return;
    }
    this._reading = index;
    for (const mark of this._drawing.querySelectorAll('.tvmlab-point')) {
      mark.classList.toggle('tvmlab-read', mark.getAttribute('data-point') === String(index));
    }
    this._readout.textContent = index === null ? '' : (this._data?.points[index]?.text ?? '');
  }

  private _data: IChartData | null = null;
  private _places: (readonly [number, number])[] = [];
  private _reading: number | null = null;
  private readonly _onOpen: (trial: number) => void;
  private readonly _caption = h('div', { class: 'tvmlab-cap' });
  private readonly _drawing = s('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    tabindex: 0
  });
  private readonly _readout = h('div', { class: 'tvmlab-readout', 'aria-live': 'polite' });
}

import { type Child, h, s } from '../dom';
import { digits } from '../format';
import { type IScale, scaleFromZero, tickText } from './scale';

/** One schedule that was both predicted and measured. */
export interface IScatterPoint {
  label: string;
  measured: number;
  predicted: number;
  /** The schedule that is open now. */
  current: boolean;
  /** Whether a click opens it. */
  opens: boolean;
}

export interface IScatterData {
  points: readonly IScatterPoint[];
  unit: string;
  /** Spearman's rank correlation, or null while there are too few points. */
  correlation: number | null;
  /** What the model stands on, or why there is none. */
  message: string | null;
}

const WIDTH = 340;
const HEIGHT = 226;
const LEFT = 46;
const RIGHT = 332;
const TOP = 8;
const BOTTOM = 190;
/** How near the pointer must come to a point to read it, in pixels of the drawing. */
const REACH = 18;
/** How many schedules one click on 'Train model' measures. */
export const EXPLORE_COUNT = 16;

/**
 * Predicted against measured, with the line where both agree.
 *
 * Points are read with the pointer, or with the arrow keys once the plot has the focus.
 */
export class Scatter {
  readonly element = h('section', {
    class: 'tvmlab-plot',
    'aria-label': 'Predicted against measured'
  });

  constructor() {
    this.element.addEventListener('pointermove', event => this._point(event));
    this.element.addEventListener('pointerleave', () => this._read(null));
    this.element.addEventListener('keydown', event => this._key(event));
    this.element.append(this._caption, this._drawing, this._readout, this._foot);
  }

  render(data: IScatterData): void {
    this._data = data;
    this._reading = null;
    const { points, unit, correlation } = data;
    const top = Math.max(0, ...points.map(p => Math.max(p.measured, p.predicted)));
    this._x = scaleFromZero(top, LEFT, RIGHT);
    this._y = scaleFromZero(top, BOTTOM, TOP);
    this._caption.replaceChildren(
      h('span', {}, `Predicted against measured · ${points.length}`),
      correlation === null
        ? ''
        : h(
            'span',
            { title: "Spearman's rank correlation of the two" },
            `rank ρ = ${correlation.toFixed(2)}`
          )
    );
    const described =
      points.length === 0 ? 'No point yet.' : `${points.length} points, in ${unit}.`;
    this._drawing.setAttribute(
      'aria-label',
      `Scatter plot. ${described} Arrow keys read the points.`
    );
    this._drawing.toggleAttribute('hidden', points.length === 0);
    this._drawing.replaceChildren(...this._axes(unit), ...this._marks());
    this._readout.textContent =
      points.length === 0
        ? 'No schedule has been both predicted and measured yet.'
        : this._currentText();
    this._message.textContent = data.message ?? '';
  }

  private _axes(unit: string): SVGElement[] {
    const { _x: x, _y: y } = this;
    const last = x.ticks[x.ticks.length - 1] ?? 1;
    const lines: SVGElement[] = [
      s('line', { class: 'tvmlab-axis', x1: LEFT, y1: BOTTOM, x2: RIGHT, y2: BOTTOM }),
      s('line', { class: 'tvmlab-axis', x1: LEFT, y1: TOP, x2: LEFT, y2: BOTTOM }),
      s('line', {
        class: 'tvmlab-identity',
        x1: x.at(0),
        y1: y.at(0),
        x2: x.at(last),
        y2: y.at(last)
      }),
      s(
        'text',
        { x: (LEFT + RIGHT) / 2, y: HEIGHT - 6, 'text-anchor': 'middle' },
        `measured ${unit}`
      ),
      s(
        'text',
        {
          x: 10,
          y: (TOP + BOTTOM) / 2,
          'text-anchor': 'middle',
          transform: `rotate(-90 10 ${(TOP + BOTTOM) / 2})`
        },
        `predicted ${unit}`
      )
    ];
    for (const tick of x.ticks) {
      const text = tickText(tick);
      lines.push(
        s('line', {
          class: 'tvmlab-axis',
          x1: x.at(tick),
          y1: BOTTOM,
          x2: x.at(tick),
          y2: BOTTOM + 4
        }),
        s('text', { x: x.at(tick), y: BOTTOM + 15, 'text-anchor': 'middle' }, text),
        s('line', { class: 'tvmlab-axis', x1: LEFT - 4, y1: y.at(tick), x2: LEFT, y2: y.at(tick) }),
        s('text', { x: LEFT - 7, y: y.at(tick) + 3.5, 'text-anchor': 'end' }, text)
      );
    }
    return lines;
  }

  /** The points, the current one last so that it lies on top. */
  private _marks(): SVGElement[] {
    const order = this._data.points.map((point, index) => ({ point, index }));
    order.sort((a, b) => Number(a.point.current) - Number(b.point.current));
    return order.map(({ point, index }) =>
      s(
        'circle',
        {
          class: ['tvmlab-point', point.current && 'tvmlab-now', point.opens && 'tvmlab-opens']
            .filter(Boolean)
            .join(' '),
          'data-point': index,
          cx: this._x.at(point.measured).toFixed(1),
          cy: this._y.at(point.predicted).toFixed(1),
          r: point.current ? 5.5 : 3.4
        },
        s('title', {}, text(point, this._data.unit))
      )
    );
  }

  private _point(event: PointerEvent): void {
    const box = this._drawing.getBoundingClientRect();
    const scale = box.width > 0 ? WIDTH / box.width : 1;
    const x = (event.clientX - box.left) * scale;
    const y = (event.clientY - box.top) * scale;
    let nearest: number | null = null;
    let least = REACH;
    this._data.points.forEach((point, index) => {
      const distance = Math.hypot(this._x.at(point.measured) - x, this._y.at(point.predicted) - y);
      if (distance < least) {
        least = distance;
        nearest = index;
      }
    });
    this._read(nearest);
  }

  private _key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const count = this._data.points.length;
    if (step === undefined || count === 0 || event.target !== this._drawing) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const from = this._reading ?? (step > 0 ? -1 : 0);
    this._read((from + step + count) % count);
  }

  private _read(index: number | null): void {
    if (index === this._reading) {
      return;
    }
    this._reading = index;
    for (const mark of this._drawing.querySelectorAll('.tvmlab-point')) {
      mark.classList.toggle('tvmlab-read', mark.getAttribute('data-point') === String(index));
    }
    const point = index === null ? undefined : this._data.points[index];
    this._readout.textContent = point ? text(point, this._data.unit) : this._currentText();
  }

  private _currentText(): string {
    const current = this._data.points.find(point => point.current);
    return current ? `This schedule: ${text(current, this._data.unit)}` : '';
  }

  private _data: IScatterData = { points: [], unit: 'GFLOP/s', correlation: null, message: null };
  private _x: IScale = scaleFromZero(1, LEFT, RIGHT);
  private _y: IScale = scaleFromZero(1, BOTTOM, TOP);
  private _reading: number | null = null;
  private readonly _message = h('span');
  private readonly _foot = h(
    'div',
    { class: 'tvmlab-foot' },
    this._message,
    h(
      'button',
      {
        class: 'tvmlab-btn',
        type: 'button',
        'data-command': 'explore',
        title: `Measure ${EXPLORE_COUNT} random schedules of this workload and learn from them`
      },
      'Train model'
    )
  );
  private readonly _caption = h('div', { class: 'tvmlab-cap' });
  private readonly _drawing = s('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    tabindex: 0
  });
  private readonly _readout: HTMLElement = h('div', {
    class: 'tvmlab-readout',
    'aria-live': 'polite'
  });
}

function text(point: IScatterPoint, unit: string): string {
  const place: Child = point.label === '' ? '' : `${point.label}: `;
  return `${place}measured ${digits(point.measured)}, predicted ${digits(point.predicted)} ${unit}`;
}

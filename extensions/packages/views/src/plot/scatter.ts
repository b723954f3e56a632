import { t } from '../hostPage';
import { type Child, h, s } from '../dom';
import { digits } from '../format';
import { axes } from './axes';
import { Brushing } from './brushing';
import { BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH } from './frame';
import { Panning } from './panning';
import { PointField } from './pointField';
import { type IScale, scaleBetween, scaleFromZero } from './scale';
import { PlotWindow } from './window';

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

/** More points than this are drawn on a canvas. */
const MOST_MARKS = 600;
/** How near the pointer must come to a point to read it, in pixels of the drawing. */
const REACH = 18;
/** What the plot tells when a region of it was marked; the region is the detail. */
export const BRUSHED = 'tvmlab:brushed';
/** How many schedules one click on 'Train model' measures. */
export const EXPLORE_COUNT = 16;

/**
 * Predicted against measured, with the line where both agree.
 *
 * Points are read with the pointer, or with the arrow keys once the plot has the focus. The plot is
 * moved by dragging and magnified by Ctrl and the wheel, or by Shift and arrows, plus and minus.
 */
export class Scatter {
  readonly element = h('section', {
    class: 'tvmlab-plot',
    'aria-label': t('Predicted against measured')
  });

  constructor() {
    this.element.addEventListener('pointermove', event => this._point(event));
    this.element.addEventListener('pointerleave', () => this._read(null));
    this.element.addEventListener('keydown', event => this._key(event));
    this._box.append(this._drawing, this._field.element);
    this._select.addEventListener('click', () => this._switch(!this._brushing.on));
    this.element.append(this._caption, this._box, this._readout, this._foot);
  }

  render(data: IScatterData): void {
    this._data = data;
    this._reading = null;
    const { points, unit, correlation } = data;
    const top = points.reduce((most, p) => Math.max(most, p.measured, p.predicted), 0);
    this._window.fit(scaleFromZero(top, LEFT, RIGHT).ticks.at(-1) ?? 1);
    this._caption.replaceChildren(
      h('span', {}, t('Predicted against measured · %1', points.length)),
      correlation === null
        ? ''
        : h(
            'span',
            { title: t("Spearman's rank correlation of the two") },
            t('rank ρ = %1', correlation.toFixed(2))
          )
    );
    const described =
      points.length === 0 ? t('No point yet.') : t('%1 points, in %2.', points.length, unit);
    this._drawing.setAttribute(
      'aria-label',
      t('Scatter plot. %1 Arrow keys read the points, plus and minus magnify.', described)
    );
    this._box.toggleAttribute('hidden', points.length === 0);
    this._select.toggleAttribute('hidden', points.length === 0);
    this._draw();
    this._readout.textContent =
      points.length === 0
        ? t('No schedule has been both predicted and measured yet.')
        : this._currentText();
    this._message.textContent = data.message ?? '';
  }

  private _switch(on: boolean): void {
    this._brushing.switch(on);
    this._select.setAttribute('aria-pressed', String(on));
  }

  private _draw(): void {
    this._x = scaleBetween(this._window.x, LEFT, RIGHT);
    this._y = scaleBetween(this._window.y, BOTTOM, TOP);
    const { points, unit } = this._data;
    const many = points.length > MOST_MARKS;
    const drawn = axes(this._x, this._y, this._window, unit);
    this._drawing.replaceChildren(...drawn, ...(many ? [] : this._marks()));
    this._field.draw(many ? points : [], this._x, this._y);
  }

  /** The points, the current one last so that it lies on top. */
  private _marks(): SVGElement[] {
    const [left, right] = this._window.x;
    const [low, high] = this._window.y;
    const order = this._data.points
      .map((point, index) => ({ point, index }))
      .filter(
        ({ point: { measured: m, predicted: p } }) =>
          m >= left && m <= right && p >= low && p <= high
      );
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
    if (this._panning.held) {
      return;
    }
    const { x, y } = this._panning.place(event);
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
    if (event.target === this._drawing && this._panning.key(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
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
    // On the canvas no point is an element; a click means the one that is read.
    const { element } = this._field;
    element.removeAttribute('data-point');
    if (point?.opens === true) {
      element.setAttribute('data-point', String(index));
    }
    this._readout.textContent = point ? text(point, this._data.unit) : this._currentText();
  }

  private _currentText(): string {
    const current = this._data.points.find(point => point.current);
    return current ? t('This schedule: %1', text(current, this._data.unit)) : '';
  }

  private _data: IScatterData = { points: [], unit: 'GFLOP/s', correlation: null, message: null };
  private _x: IScale = scaleFromZero(1, LEFT, RIGHT);
  private _y: IScale = scaleFromZero(1, BOTTOM, TOP);
  private _reading: number | null = null;
  private readonly _message = h('span');
  private readonly _select = h(
    'button',
    {
      class: 'tvmlab-btn',
      type: 'button',
      'aria-pressed': 'false',
      title: t('Then draw a rectangle in the plot; the tab Outliers takes numbers instead')
    },
    t('Mark a region')
  );
  private readonly _foot = h(
    'div',
    { class: 'tvmlab-foot' },
    this._message,
    this._select,
    h(
      'button',
      {
        class: 'tvmlab-btn',
        type: 'button',
        'data-command': 'explore',
        title: t('Measure %1 random schedules of this workload and learn from them', EXPLORE_COUNT)
      },
      t('Train model')
    )
  );
  private readonly _caption = h('div', { class: 'tvmlab-cap' });
  private readonly _drawing = s('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    tabindex: 0
  });
  private readonly _box = h('div', { class: 'tvmlab-field-of-points' });
  private readonly _field = new PointField();
  private readonly _window = new PlotWindow();
  private readonly _brushing = new Brushing(this._box, this._window, region => {
    this._switch(false);
    this.element.dispatchEvent(new CustomEvent(BRUSHED, { bubbles: true, detail: region }));
  });
  private readonly _panning = new Panning(this._box, this._window, () => this._draw());
  private readonly _readout: HTMLElement = h('div', {
    class: 'tvmlab-readout',
    'aria-live': 'polite'
  });
}

function text(point: IScatterPoint, unit: string): string {
  const place: Child = point.label === '' ? '' : `${point.label}: `;
  return t(
    '%1measured %2, predicted %3 %4',
    place,
    digits(point.measured),
    digits(point.predicted),
    unit
  );
}

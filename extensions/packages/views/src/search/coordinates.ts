import type { SearchState, SearchTrial } from '@tvmlab/schema';

import { t } from '../hostPage';
import { closestData, h, s } from '../dom';
import { tickText } from '../plot/scale';
import { trialText } from './charts';

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [720, 230, 40, 680, 34, 206];
/** Lines that are drawn at most: the fastest, and the newest of the others. */
const MOST = 200;

/** Trials as lines over their knobs: what the fast ones have in common. */
export class Coordinates {
  readonly element: HTMLElement;

  constructor(onOpen: (trial: number) => void) {
    this._onOpen = onOpen;
    this.element = h(
      'section',
      { class: 'tvmlab-plot tvmlab-coordinates', 'aria-label': t('Knobs of the trials') },
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('span', {}, t('Knobs of the trials')),
        h('span', {}, t('the fastest tenth stands out'))
      ),
      this._drawing,
      this._readout
    );
    this._drawing.addEventListener('pointerover', event => this._over(event.target));
    this._drawing.addEventListener('pointerleave', () => this._read(null));
    this._drawing.addEventListener('click', event => {
      this._over(event.target);
      this._open();
    });
    this._drawing.addEventListener('keydown', event => this._key(event));
  }

  render(state: SearchState): void {
    const { axes } = state;
    this._unit = state.unit;
    const drawn = state.trials.filter(t => t.measured !== null && t.places.length === axes.length);
    this._trials = [...drawn].sort((a, b) => (b.measured ?? 0) - (a.measured ?? 0)).slice(0, MOST);
    const top = this._trials[0]?.measured ?? 1;
    const tenth = Math.max(1, Math.round(this._trials.length / 10));
    const gap = (RIGHT - LEFT) / Math.max(1, axes.length);
    const y = (place: number): number => BOTTOM + (TOP - BOTTOM) * place;
    const lines = this._trials.map((trial, index) => {
      const ends = [...trial.places, (trial.measured ?? 0) / top];
      const corners = ends.map((at, n) => `${(LEFT + n * gap).toFixed(0)},${y(at).toFixed(1)}`);
      return s('polyline', {
        class: index < tenth ? 'tvmlab-way tvmlab-fast' : 'tvmlab-way',
        'data-way': index,
        points: corners.join(' ')
      });
    });
    this._drawing.setAttribute(
      'aria-label',
      t(
        'Parallel coordinates of %1 trials over %2 knobs. Arrow keys go from the fastest to slower ones, Enter opens one.',
        this._trials.length,
        axes.length
      )
    );
    this.element.toggleAttribute('hidden', axes.length === 0 || this._trials.length === 0);
    this._drawing.replaceChildren(
      ...lines.reverse(),
      ...axes.flatMap(({ knob, ticks }, n) => axis(LEFT + n * gap, knob, ticks, y)),
      ...axis(
        LEFT + axes.length * gap,
        state.unit,
        [
          { at: 0, text: '0' },
          { at: 1, text: tickText(Number(top.toPrecision(3))) }
        ],
        y
      )
    );
    this._reading = null;
    this._readout.textContent = '';
  }

  private _over(target: EventTarget | null): void {
    const way = closestData(target, 'way');
    this._read(way === null ? null : Number(way.value));
  }

  private _key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const count = this._trials.length;
    if (event.key === 'Enter') {
      this._open();
    } else if (step !== undefined && count > 0) {
      const from = this._reading ?? (step > 0 ? -1 : count);
      this._read((from + step + count) % count);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private _open(): void {
    const trial = this._reading === null ? undefined : this._trials[this._reading];
    if (trial !== undefined) {
      this._onOpen(trial.index);
    }
  }

  private _read(index: number | null): void {
    this._reading = index;
    for (const way of this._drawing.querySelectorAll('.tvmlab-way')) {
      way.classList.toggle('tvmlab-read', way.getAttribute('data-way') === String(index));
    }
    const trial = index === null ? undefined : this._trials[index];
    this._readout.textContent = trial === undefined ? '' : trialText(trial, this._unit);
  }

  private _trials: SearchTrial[] = [];
  private _unit = '';
  private _reading: number | null = null;
  private readonly _onOpen: (trial: number) => void;
  private readonly _drawing = s('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    tabindex: 0
  });
  private readonly _readout = h('div', { class: 'tvmlab-readout', 'aria-live': 'polite' });
}

function axis(
  x: number,
  name: string,
  ticks: readonly { at: number; text: string }[],
  y: (place: number) => number
): SVGElement[] {
  return [
    s('line', { class: 'tvmlab-upright', x1: x, y1: TOP, x2: x, y2: BOTTOM }),
    s('text', { class: 'tvmlab-knob', x, y: 14, 'text-anchor': 'middle' }, name),
    ...ticks.map(({ at, text }) =>
      s('text', { class: 'tvmlab-option', x: x + 4, y: y(at) + 3.5 }, text)
    )
  ];
}

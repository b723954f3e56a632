import { t } from '../hostPage';
import { h } from '../dom';

/** Beyond this a factor is typed, not slid to. */
const MOST = 1024;

/** Every inner factor that the slider stops at: all divisors, and every number while few. */
export function sliderStops(extent: number): number[] {
  const top = Math.min(extent - 1, MOST);
  const stops: number[] = [];
  for (let factor = 2; factor <= top; factor += 1) {
    if (top <= 64 || extent % factor === 0 || factor % 8 === 0) {
      stops.push(factor);
    }
  }
  return stops;
}

/** What a factor makes of a loop, in words. */
export function factorWords(extent: number, factor: number): string {
  const rounds = Math.ceil(extent / factor);
  const tail = extent % factor;
  if (tail === 0) {
    return t('%1 × %2, no tail', rounds, factor);
  }
  const lost = 100 * (1 - extent / (rounds * factor));
  return t(
    '%1 × %2, the last round has %3 of %4: %5 % of the places stay empty',
    rounds,
    factor,
    tail,
    factor,
    lost.toFixed(1)
  );
}

/** A slider over inner factors that marks the divisors, with a strip of the rounds below. */
export function factorSlider(extent: number): HTMLElement {
  const stops = sliderStops(extent);
  if (stops.length < 2) {
    return h('span');
  }
  const at = (factor: number): number => (100 * stops.indexOf(factor)) / (stops.length - 1);
  const ticks = stops.filter(factor => extent % factor === 0);
  return h(
    'div',
    { class: 'tvmlab-slider' },
    h('input', {
      type: 'range',
      min: 0,
      max: stops.length - 1,
      step: 1,
      value: 0,
      'data-stops': stops.join(','),
      'aria-label': t('Inner factor')
    }),
    h(
      'div',
      { class: 'tvmlab-ticks', 'aria-hidden': 'true' },
      ...ticks.map(factor => h('i', { style: `left:${at(factor).toFixed(2)}%` }))
    ),
    h('div', { class: 'tvmlab-rounds', 'aria-hidden': 'true' }),
    h('div', { class: 'tvmlab-rounds-words' })
  );
}

const MOST_ROUNDS = 48;

/** Put the slider where the factor is, and draw its rounds. */
export function followSlider(element: Element, extent: number, factor: number): void {
  const range = element.querySelector<HTMLInputElement>('input[type=range]');
  const strip = element.querySelector('.tvmlab-rounds');
  const words = element.querySelector('.tvmlab-rounds-words');
  if (!range || !strip || !words || !(factor >= 1 && factor <= extent)) {
    return;
  }
  const stops = (range.dataset['stops'] ?? '').split(',').map(Number);
  const near = stops.reduce((best, stop, i) => {
    const known = stops[best] ?? 0;
    return Math.abs(stop - factor) < Math.abs(known - factor) ? i : best;
  }, 0);
  if (stops[Number(range.value)] !== factor) {
    range.value = String(near);
  }
  const text = factorWords(extent, factor);
  range.setAttribute('aria-valuetext', text);
  words.textContent = text;
  words.classList.toggle('tvmlab-warned', extent % factor !== 0);
  const rounds = Math.ceil(extent / factor);
  const tail = extent % factor;
  const shown = Math.min(rounds, MOST_ROUNDS);
  strip.replaceChildren(
    ...Array.from({ length: shown }, (_, i) => {
      const last = i === shown - 1 && tail !== 0;
      return h('i', last ? { style: `--full:${(100 * tail) / factor}%` } : {});
    })
  );
}

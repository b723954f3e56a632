/** A linear scale with round ticks. */
export interface IScale {
  /** Where a value lies, in pixels. */
  at(value: number): number;
  ticks: readonly number[];
}

/** The next step of 1, 2 or 5 times a power of ten that gives at most `most` ticks. */
function roundStep(span: number, most: number): number {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find(candidate => candidate * power >= rough) ?? 10;
  return factor * power;
}

/** A scale from zero to a round number above `top`, drawn from `from` to `to` pixels. */
export function scaleFromZero(top: number, from: number, to: number, most = 5): IScale {
  const step = roundStep(top > 0 ? top : 1, most);
  const steps = Math.max(1, Math.ceil((top > 0 ? top : 1) / step - 1e-9));
  const end = steps * step;
  const ticks = Array.from({ length: steps + 1 }, (_, index) => index * step);
  return { at: value => from + ((to - from) * value) / end, ticks };
}

/** A scale over a range of values, drawn from `from` to `to` pixels, with its round ticks inside. */
export function scaleBetween([low, high]: Range, from: number, to: number, most = 5): IScale {
  const step = roundStep(high - low, most);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const ticks = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
  return { at: value => from + ((to - from) * (value - low)) / (high - low), ticks };
}

/** From which value to which. */
export type Range = readonly [number, number];

/** A tick's text, without the noise of binary fractions. */
export function tickText(value: number): string {
  return String(Number(value.toPrecision(6)));
}

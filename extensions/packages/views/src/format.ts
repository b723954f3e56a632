/** Numbers as people read them. Only the dress is chosen here; the figures come from reports. */
import type { IPreferences } from './preferences';

type Units = Pick<IPreferences, 'time' | 'rate' | 'bytes'>;

/** What holds for all figures drawn from now on. A view sets it before it draws. */
let units: Units = { time: 'auto', rate: 'GFLOP/s', bytes: 'binary' };

export function useUnits({ time, rate, bytes }: Units): void {
  units = { time, rate, bytes };
}

const TIME_UNITS: readonly [number, string][] = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns']
];

const RATE_SCALES = { 'MFLOP/s': 1e-3, 'GFLOP/s': 1, 'TFLOP/s': 1e3 } as const;

/** Three significant digits without an exponent: `2.75`, `118`, `0.61`. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) {
    return '–';
  }
  if (value === 0) {
    return '0';
  }
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 6));
}

/** The unit of a time: the one that was chosen, else the one that suits. */
function timeUnit(seconds: number): readonly [number, string] {
  return (
    TIME_UNITS.find(([, name]) => name === units.time) ??
    TIME_UNITS.find(([limit]) => seconds >= limit) ?? [1e-9, 'ns']
  );
}

/** Seconds with the unit that suits: `2.75 ms`. */
export function time(seconds: number): string {
  const [scale, unit] = timeUnit(seconds);
  return `${digits(seconds / scale)} ${unit}`;
}

/** Two times under one unit: `2.73–2.79 ms`. */
export function timeRange(low: number, high: number): string {
  const [scale, unit] = timeUnit(high);
  return `${digits(low / scale)}–${digits(high / scale)} ${unit}`;
}

/** A speed, given in GFLOP/s, in the unit of the reader. */
export function rate(gflops: number): string {
  return `${digits(gflops / RATE_SCALES[units.rate])} ${units.rate}`;
}

/** The reader's unit for what is given in a unit, and how much of that makes one of it. */
export function readersUnit(unit: string): readonly [string, number] {
  return unit === 'GFLOP/s' ? [units.rate, RATE_SCALES[units.rate]] : [unit, 1];
}

/** Bytes in units of 1024, as the reports in Python write them: `48 KB`; or of 1000: `49.2 kB`. */
export function bytes(count: number): string {
  const base = units.bytes === 'binary' ? 1024 : 1000;
  const names = ['B', base === 1024 ? 'KB' : 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (count >= base && unit < names.length - 1) {
    count /= base;
    unit += 1;
  }
  return `${Number.isInteger(count) ? count : digits(count)} ${names[unit] ?? ''}`;
}

/** A share of one as percent; a trace is told apart from nothing. */
export function percent(share: number): string {
  if (share > 0 && share < 0.005) {
    return '<1%';
  }
  return `${Math.round(share * 100)}%`;
}

/** A gain as a factor: `6.3×`. */
export function factor(ratio: number): string {
  return `${ratio.toFixed(ratio >= 20 ? 0 : ratio >= 2 ? 1 : 2)}×`;
}

/** A large count, grouped: `1,073,741,824`. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** A large count with three digits: `17.3M`. */
export function compact(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', maximumSignificantDigits: 3 });
}

import { t } from '../hostPage';
import type { Value } from '@tvmlab/schema';

/** Text of split factors, as people type them: `auto, 8, 4` (one may be left open). */
export function factorsText(value: Value): string {
  return Array.isArray(value)
    ? value.map(part => (part === null ? 'auto' : String(part))).join(', ')
    : '';
}

/** Factors from text, or why not. One number alone is the innermost: `8` means `auto, 8`. */
export function readFactors(text: string): { value: Value } | { error: string } {
  const parts = text
    .replace(/[[\]()]/g, '')
    .split(/[\s,×x*]+/)
    .filter(part => part !== '');
  if (parts.length === 0) {
    return { error: t('Give factors, such as: 8, or auto, 8') };
  }
  const value = (parts.length === 1 ? ['auto', ...parts] : parts).map(part =>
    /^(auto|none|_|\?)$/i.test(part) ? null : Number(part)
  );
  if (value.some(part => part !== null && !(Number.isInteger(part) && part > 0))) {
    return { error: t('Factors are whole numbers above zero, or auto') };
  }
  if (value.filter(part => part === null).length > 1) {
    return { error: t('At most one factor may be auto') };
  }
  return { value };
}

/** Text of several whole numbers; empty where they are left out. */
export function numbersText(value: Value): string {
  return Array.isArray(value) ? value.join(', ') : '';
}

/** Several whole numbers from text, or why not; none at all where they may be left out. */
export function readNumbers(text: string, optional: boolean): { value: Value } | { error: string } {
  const parts = text
    .replace(/[[\]()]/g, '')
    .split(/[\s,]+/)
    .filter(part => part !== '');
  if (parts.length === 0) {
    return optional ? { value: null } : { error: t('Give whole numbers, such as: 1, 8') };
  }
  const value = parts.map(Number);
  return value.every(Number.isInteger)
    ? { value }
    : { error: t('Only whole numbers, with commas between them') };
}

/** One whole number from text, or why not. */
export function readNumber(text: string, optional: boolean): { value: Value } | { error: string } {
  const value = Number(text);
  if (text.trim() === '') {
    return optional ? { value: null } : { error: t('Give a whole number') };
  }
  return Number.isInteger(value)
    ? { value }
    : { error: t('Give a whole number, without a fraction') };
}

/** One inner factor to offer, and whether it leaves a tail. */
export interface IFactorChip {
  factor: number;
  tail: boolean;
}

const MOST_CHIPS = 14;
const VECTOR_SIZES = [4, 8, 16, 32, 64];

/** Inner factors worth a click: the divisors, and vector sizes that leave a tail. */
export function factorChips(extent: number): IFactorChip[] {
  const divisors: number[] = [];
  for (let factor = 2; factor <= Math.min(extent / 2, 1024); factor += 1) {
    if (extent % factor === 0) {
      divisors.push(factor);
    }
  }
  const tails = VECTOR_SIZES.filter(factor => factor < extent && extent % factor !== 0);
  const room = MOST_CHIPS - Math.min(tails.length, 3);
  const chips = [
    ...thin(divisors, room).map(factor => ({ factor, tail: false })),
    ...tails.slice(0, 3).map(factor => ({ factor, tail: true }))
  ];
  return chips.sort((a, b) => a.factor - b.factor);
}

/** At most so many of the values, spread evenly, both ends kept. */
function thin(values: readonly number[], most: number): number[] {
  if (values.length <= most) {
    return [...values];
  }
  const step = (values.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => values[Math.round(i * step)] ?? 0);
}

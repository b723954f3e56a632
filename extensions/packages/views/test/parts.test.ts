import { describe, expect, it } from 'vitest';

import { bytes, digits, factor, percent, time, timeRange } from '../src/format';
import { factorChips, factorsText, readFactors } from '../src/parts/factors';
import { scaleFromZero, tickText } from '../src/plot/scale';

describe('factors', () => {
  it('reads what people type and writes it back', () => {
    expect(readFactors('[None, 8, 4]')).toEqual({ value: [null, 8, 4] });
    expect(readFactors('auto × 12')).toEqual({ value: [null, 12] });
    expect(factorsText([null, 8, 4])).toBe('auto, 8, 4');
  });

  it.each([
    ['', 'such as'],
    ['auto, auto', 'At most one'],
    ['4, -2', 'above zero'],
    ['4, 2.5', 'whole numbers']
  ])('refuses %s', (text, reason) => {
    const read = readFactors(text);
    expect('error' in read && read.error).toContain(reason);
  });

  it('offers divisors plain and vector sizes with a tail marked', () => {
    expect(factorChips(12)).toEqual([
      { factor: 2, tail: false },
      { factor: 3, tail: false },
      { factor: 4, tail: false },
      { factor: 6, tail: false },
      { factor: 8, tail: true }
    ]);
    expect(factorChips(127).every(chip => chip.tail)).toBe(true);
    expect(factorChips(1)).toEqual([]);
    expect(factorChips(5040).length).toBeLessThanOrEqual(14);
  });
});

describe('numbers', () => {
  it('gives three digits and the unit that suits', () => {
    expect([digits(0.6123), digits(391.4), digits(0), digits(NaN)]).toEqual([
      '0.612',
      '391',
      '0',
      '–'
    ]);
    expect([time(2.75e-3), time(4.2e-7), time(12)]).toEqual(['2.75 ms', '420 ns', '12.0 s']);
    expect(timeRange(2.73e-3, 2.79e-3)).toBe('2.73–2.79 ms');
    expect([bytes(512), bytes(49152), bytes(1.5 * 1024 ** 3)]).toEqual([
      '512 B',
      '48 KB',
      '1.50 GB'
    ]);
    expect([percent(0.004), percent(0), percent(0.966)]).toEqual(['<1%', '0%', '97%']);
    expect([factor(0.61), factor(6.31), factor(225.9)]).toEqual(['0.61×', '6.3×', '226×']);
  });
});

describe('scales', () => {
  it.each([
    [391, [0, 100, 200, 300, 400]],
    [1.3, [0, 0.5, 1, 1.5]],
    [0, [0, 0.2, 0.4, 0.6, 0.8, 1]]
  ])('ends above %d at a round number', (top, ticks) => {
    const scale = scaleFromZero(top, 0, 100);
    expect(scale.ticks.map(tickText)).toEqual(ticks.map(String));
    expect(scale.at(0)).toBe(0);
    expect(scale.at(scale.ticks.at(-1) ?? 0)).toBeCloseTo(100);
  });
});

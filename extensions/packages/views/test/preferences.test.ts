import { afterEach, describe, expect, it } from 'vitest';

import { mountExplorer, publishPreferences, publishTranslation } from '../src/index';
import { t } from '../src/hostPage';
import { state } from './fixture';
import { all, asked, field, find, page, press, settle, useExplorer } from './harness';
import { MockModel } from './mockModel';

useExplorer();
afterEach(() => publishPreferences({}));

const status = (): string => find('.tvmlab-stat').textContent;

describe('what the reader prefers', () => {
  it('holds for figures at once, in every view on the page', () => {
    const other = document.createElement('div');
    const explorer = mountExplorer(new MockModel(state()), other);
    expect(status()).toContain('2.75 ms median');
    publishPreferences({ time: 'µs', rate: 'TFLOP/s' });
    expect(status()).toContain('2750 µs median of 30quartiles 2730–2790 µs0.391 TFLOP/s');
    expect(other.textContent).toContain('2750 µs median');
    explorer.dispose();
  });

  it('holds in the plot, whose figures are others then', async () => {
    const measured = (): number =>
      Number(/measured ([\d.]+)/.exec(find('.tvmlab-readout').textContent)?.[1]);
    expect(find('.tvmlab-plot').textContent).toContain('measured GFLOP/s');
    const before = measured();
    publishPreferences({ rate: 'MFLOP/s' });
    await settle();
    expect(find('.tvmlab-plot').textContent).toContain('predicted MFLOP/s');
    expect(Math.round(measured() / 1000)).toBe(before);
  });

  it('may be given for one view alone, and is checked', () => {
    const model = new MockModel(state());
    model.set('preferences', { time: 'ns', rate: 'furlongs', codeTheme: 'dark' });
    const host = document.createElement('div');
    const explorer = mountExplorer(model, host);
    publishPreferences({ time: 'µs' });
    expect(host.textContent).toContain('2750000 ns median');
    expect(host.textContent).toContain('391 GFLOP/s');
    expect(host.querySelector<HTMLElement>('.tvmlab-explorer')?.dataset['codeTheme']).toBe('dark');
    explorer.dispose();
  });

  it('tells the session how bytes are counted, and whether steps are measured', async () => {
    expect(asked('prefer')).toHaveLength(0);
    publishPreferences({ bytes: 'decimal', autoMeasure: true });
    await settle();
    expect(asked('prefer')).toMatchObject([{ auto: true, bytes: 'decimal' }]);
    publishPreferences({});
    expect(asked('prefer').at(-1)).toMatchObject({ auto: false, bytes: 'binary' });
  });

  it('may take single letters as no keys, which then do not reach the notebook either', async () => {
    publishPreferences({ letterKeys: false });
    find('.tvmlab-row[data-row="L4"]').click();
    await settle();
    let heard = 0;
    page.host.addEventListener('keydown', () => (heard += 1));
    press('s');
    press('?');
    await settle();
    expect(find('.tvmlab-form').hidden).toBe(true);
    expect(heard).toBe(0);
    press('Enter');
    await settle();
    expect(find('.tvmlab-form').hidden).toBe(false);
    expect(field('[data-field="factors"] input').value).toBe('auto, 4');
  });

  it('colors the code by what its pieces are, and changes no letter of it', async () => {
    find('[data-tab="llvm"]').click();
    await settle();
    expect(find('.tvmlab-listing').textContent).toBe('; llvm of this program\nret i32 0');
    const tokens = all('.tvmlab-listing [data-token]').map(token => token.dataset['token']);
    expect(tokens).toEqual(['comment', 'keyword', 'number']);
  });
});

describe('texts', () => {
  it('are said in the language of the page, with values in their places', () => {
    expect(t('%1 of %2 places', 1, 4)).toBe('1 of 4 places');
    publishTranslation((text, ...values) => [text.toUpperCase(), ...values].join('|'));
    expect(t('%1 of %2 places', 1, 4)).toBe('%1 OF %2 PLACES|1|4');
    publishTranslation((text, ...values) =>
      text.replace(/%(\d)/g, (_, digit) => values[Number(digit) - 1] ?? '')
    );
  });
});

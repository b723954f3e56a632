import { describe, expect, it } from 'vitest';

import { all, asked, find, page, press, settle, useExplorer } from './harness';

useExplorer();

const line = (id: string): HTMLElement => find(`.tvmlab-row[data-row="${id}"]`);

describe('moving a line', () => {
  it('paints every place, allowed or not, before anything is let go', async () => {
    line('L4').click();
    press('g');
    await settle();
    expect(all('.tvmlab-slot').map(slot => slot.dataset['status'])).toEqual([
      'refused',
      'allowed',
      'here',
      'unknown'
    ]);
    expect(asked('slots')).toMatchObject([{ row: 'L4' }]);
    expect(find('.tvmlab-hidden[aria-live]').textContent).toContain('1 of 4 places are allowed');
  });

  it('takes the step where it is allowed, and says why where it is not', async () => {
    line('L4').click();
    press('g');
    await settle();
    press('ArrowUp');
    expect(find('.tvmlab-slot[data-at="true"]').textContent).toContain('may go outside of k_outer');
    press('Enter');
    await settle();
    expect(asked('move')).toMatchObject([{ row: 'L4', to: 'L1', place: 'before' }]);
    expect(all('.tvmlab-slot')).toHaveLength(0);

    press('g');
    await settle();
    press('ArrowUp');
    press('ArrowUp');
    press('Enter');
    await settle();
    expect(asked('move')).toHaveLength(1);
    expect(find('.tvmlab-card').textContent).toContain('not below a vectorized loop');
  });

  it('puts the line back with Escape', async () => {
    line('L4').click();
    press('g');
    await settle();
    press('Escape');
    expect(all('.tvmlab-slot')).toHaveLength(0);
    expect(asked('move')).toHaveLength(0);
  });
});

describe('the palette', () => {
  it('finds steps, commands and lines by parts of their names', async () => {
    line('L4').click();
    await settle();
    press('/');
    const input = find('[role=combobox]') as HTMLInputElement;
    const type = (text: string): void => {
      input.value = text;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    };
    type('line j_inner');
    expect(all('[role=option]')).toHaveLength(1);
    press('Enter', {}, '[role=combobox]');
    expect(find('.tvmlab-row[aria-selected="true"]').dataset['row']).toBe('L6');
    expect(find('.tvmlab-palette').hidden).toBe(true);
    await settle();

    press('/');
    type('measure');
    press('Enter', {}, '[role=combobox]');
    expect(asked('measure')).toHaveLength(1);
  });
});

describe('the form of a split', () => {
  it('has a slider that stops at divisors and tells the tail', async () => {
    line('L4').click();
    await settle();
    press('s');
    await settle(10);
    const slider = find('input[type=range]') as HTMLInputElement;
    const stops = (slider.dataset['stops'] ?? '').split(',').map(Number);
    slider.value = String(stops.indexOf(40));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await settle(130);
    expect(asked('check').at(-1)).toMatchObject({ params: { factors: [null, 40] } });
    expect(slider.getAttribute('aria-valuetext')).toContain('the last round has 24 of 40');
  });

  it('shows the nest as it would be', async () => {
    line('L4').click();
    await settle();
    press('s');
    await settle(10);
    expect(find('.tvmlab-diff [data-sign="+"]').textContent).toContain('added: ');
    expect(page.host.querySelector('.tvmlab-preview summary')?.textContent).toContain('would be');
  });
});

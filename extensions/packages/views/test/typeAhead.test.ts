import type { Command } from '@tvmlab/schema';
import { describe, expect, it, vi } from 'vitest';

import { state } from './fixture';
import { all, asked, field, find, page, press, settle, useExplorer } from './harness';

useExplorer();

const line = (id: string): HTMLElement => find(`.tvmlab-row[data-row="${id}"]`);
const said = (): string => find('.tvmlab-hidden[aria-live]').textContent;

/** From now on the session answers only when it is let. */
function holdAnswers(): void {
  page.model.silent = true;
}

/** Let the session answer everything that it was asked since, in order. */
async function letAnswer(from: number): Promise<void> {
  page.model.silent = false;
  page.model.asked.slice(from).forEach((command: Command) => page.model.answer(command));
  await settle(10);
}

describe('keys that are faster than the answers', () => {
  it('do what is typed into the palette once the steps of the line have come', async () => {
    holdAnswers();
    const from = page.model.asked.length;
    line('L6').click();
    press('/');
    const input = field('[role=combobox]');
    input.value = 'split';
    input.dispatchEvent(new Event('input', { bubbles: true }));
    press('Enter', {}, '[role=combobox]');
    expect(asked('apply')).toHaveLength(0);
    expect(find('.tvmlab-palette [role=status]').textContent).toBe(
      'Waiting for what can be done with j_inner…'
    );
    await letAnswer(from);
    expect(find('.tvmlab-form').hidden).toBe(false);
    expect(find('.tvmlab-palette').hidden).toBe(true);
  });

  it('take what is found already where it was chosen by key, and nothing after more typing', async () => {
    holdAnswers();
    const from = page.model.asked.length;
    line('L6').click();
    press('/');
    const input = field('[role=combobox]');
    const type = (text: string): void => {
      input.value = text;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    };
    type('m');
    press('Enter', {}, '[role=combobox]');
    type('me');
    await letAnswer(from);
    expect(asked('measure')).toHaveLength(0);
    expect(find('.tvmlab-palette').hidden).toBe(false);

    line('L4').click();
    press('/');
    type('line k');
    press('ArrowDown', {}, '[role=combobox]');
    press('Enter', {}, '[role=combobox]');
    expect(find('.tvmlab-row[aria-selected="true"]').dataset['row']).not.toBe('L4');
  });

  it('fill and apply the form that they open', async () => {
    line('L4').click();
    holdAnswers();
    const from = page.model.asked.length;
    press('s');
    for (const key of ['1', '6', 'Enter']) {
      press(key);
    }
    expect(said()).toContain('keys wait for it');
    expect(asked('apply')).toHaveLength(0);
    await letAnswer(from);
    await vi.waitFor(() => expect(asked('apply')).toHaveLength(1));
    expect(asked('apply')).toMatchObject([
      { row: 'L4', action: 'split', params: { factors: [null, 16] } }
    ]);
  });

  it('wait for the places of a line that is moved', async () => {
    line('L4').click();
    await settle();
    holdAnswers();
    const from = page.model.asked.length;
    for (const key of ['g', 'ArrowUp', 'Enter']) {
      press(key);
    }
    await letAnswer(from);
    await vi.waitFor(() => expect(asked('move')).toHaveLength(1));
    expect(asked('move')).toMatchObject([{ row: 'L4', to: 'L1' }]);
    expect(all('.tvmlab-slot')).toHaveLength(0);
  });

  it('are forgotten with Escape, and when the session has gone', async () => {
    line('L4').click();
    await settle();
    holdAnswers();
    const from = page.model.asked.length;
    press('z', { ctrlKey: true });
    press('ArrowDown');
    press('Escape');
    await letAnswer(from);
    expect(find('.tvmlab-row[aria-selected="true"]').dataset['row']).toBe('L4');

    holdAnswers();
    press('z', { ctrlKey: true });
    page.model.emit({ kind: 'connection', connection: { state: 'gone', reason: 'gone' } });
    await settle();
    press('ArrowDown');
    expect(find('.tvmlab-row[aria-selected="true"]').dataset['row']).not.toBe('L4');
  });
});

describe('clicks that are faster than the answers', () => {
  it('do the next step after the one before it', async () => {
    line('L4').click();
    await settle();
    holdAnswers();
    const from = page.model.asked.length;
    find('[data-command="undo"]').click();
    find('[data-action="split"]').click();
    expect(find('.tvmlab-form').hidden).toBe(true);
    await letAnswer(from);
    expect(find('.tvmlab-form').hidden).toBe(false);
  });
});

describe('a form that is open', () => {
  it('stays when figures arrive, also where the state comes as a whole', async () => {
    line('L4').click();
    press('s');
    await settle(10);
    const news = structuredClone({
      ...state(),
      measurement: { ...state().measurement, stale: true }
    });
    page.model.update(news);
    await settle();
    expect(find('.tvmlab-stat').textContent).toContain('stale');
    expect(find('.tvmlab-form').hidden).toBe(false);
  });
});

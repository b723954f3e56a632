import { beforeEach, describe, expect, it, vi } from 'vitest';

import { rows } from './fixtureRows';
import {
  all,
  asked,
  field,
  find,
  page,
  press,
  selected,
  settle,
  submit,
  useExplorer
} from './harness';

useExplorer();

describe('the nest', () => {
  it('shows a line for each row, as loops read', () => {
    const lines = all('.tvmlab-row .tvmlab-text').map(line => line.textContent);
    expect(lines[0]).toBe('for i_outer in parallel(86)  # 1024 / 12, last one 4');
    expect(lines[2]).toBe('B_packed: float32[32, 384, 32]  global · 48 KB');
    expect(lines[9]).toBe('C_local[i, j] += A[i, k] * B_packed[j, k]  24 registers');
  });

  it('tells kinds by letter, reductions too', () => {
    const letters = all('.tvmlab-kind')
      .map(kind => kind.textContent)
      .join('');
    expect(letters).toBe('PR▤S▣SRUV▣▣');
  });

  it('enters names as text, never as markup', () => {
    const evil = '<img src=x onerror=alert(1)>';
    page.model.update({ rows: rows().map(row => ({ ...row, name: evil })), python: evil });
    expect(page.host.querySelector('img')).toBeNull();
    expect(find('.tvmlab-row .tvmlab-name').textContent).toBe(evil);
  });

  it('is an ARIA tree whose active line is the selected one', () => {
    press('ArrowDown');
    const tree = find('[role="tree"]');
    const active = document.getElementById(tree.getAttribute('aria-activedescendant') ?? '');
    expect(active?.dataset['row']).toBe('L1');
    expect(active?.getAttribute('aria-level')).toBe('2');
    expect(active?.getAttribute('aria-label')).toContain(
      'serial, reduction loop k_outer, 3 iterations'
    );
  });
});

describe('the keyboard', () => {
  it('walks the lines and stops at the ends', () => {
    press('ArrowUp');
    expect(selected()).toBe('L0');
    press('End');
    expect(selected()).toBe('B2');
    press('ArrowDown');
    expect(selected()).toBe('B2');
    press('Home');
    expect(selected()).toBe('L0');
  });

  it('folds a loop and goes to its parent', () => {
    press('ArrowDown');
    press('ArrowLeft');
    expect(all('.tvmlab-row')).toHaveLength(2);
    expect(find('[data-row="L1"]').getAttribute('aria-expanded')).toBe('false');
    press('ArrowLeft');
    expect(selected()).toBe('L0');
    press('ArrowRight');
    press('ArrowRight');
    expect(all('.tvmlab-row')).toHaveLength(11);
  });

  it('applies a primitive by its letter and a move by Shift and an arrow', async () => {
    press('u');
    await settle();
    press('ArrowUp', { shiftKey: true });
    await settle();
    expect(asked('apply')).toMatchObject([
      { row: 'L0', action: 'unroll', params: {} },
      { row: 'L0', action: 'move', params: {} }
    ]);
  });

  it('acts on the newest selection even when its actions are still on the way', async () => {
    press('ArrowDown');
    press('u');
    await settle();
    expect(asked('apply')).toMatchObject([{ row: 'L1', action: 'unroll' }]);
  });

  it('undoes, redoes and measures', async () => {
    press('z', { ctrlKey: true });
    press('Z', { ctrlKey: true, shiftKey: true });
    press('m');
    await vi.waitFor(() => expect(asked('measure')).toHaveLength(1));
    expect(page.model.asked.slice(-3).map(command => command.type)).toEqual([
      'undo',
      'redo',
      'measure'
    ]);
  });

  it('keeps plain letters from the notebook, and leaves its shortcuts alone', () => {
    const heard: string[] = [];
    const listen = (event: KeyboardEvent): void => void heard.push(event.key);
    document.addEventListener('keydown', listen);
    press('d');
    press('a');
    press('s', { ctrlKey: true });
    document.removeEventListener('keydown', listen);
    expect(heard).toEqual(['s']);
  });

  it('lists the keys on ? and closes the list on Escape', () => {
    press('?');
    expect(find('[role="dialog"]').textContent).toContain('unroll');
    press('Escape', {}, '[role="dialog"]');
    expect(find('[role="dialog"]').hasAttribute('hidden')).toBe(true);
  });
});

describe('actions and verdicts', () => {
  it('keeps refused actions in sight with their reason', () => {
    const refused = find('[data-action="vectorize"]');
    expect(refused.textContent).toContain('⊘');
    expect(refused.textContent).toContain('carries C_local from one iteration to the next.');
  });

  it('explains a refusal with the witness, and does the fix that it offers', async () => {
    press('p');
    await settle();
    const card = find('.tvmlab-card');
    expect(card.textContent).toContain('k_inner=0 and k_inner=1 both update C_local[0, 0]');
    expect(asked('apply')).toEqual([]);
    find('[data-fix]').click();
    await settle();
    expect(asked('fix')).toMatchObject([{ token: 'fix-1' }]);
    expect(page.host.querySelector('.tvmlab-card')).toBeNull();
  });

  it('shows a refusal that only came with the step', async () => {
    page.model.answers.set('apply', { ok: false, error: 'the loop is gone' });
    press('u');
    await settle();
    expect(find('.tvmlab-card').textContent).toContain('The loop is gone.');
  });
});

describe('the parameter form', () => {
  beforeEach(async () => {
    press('s');
    await settle();
  });

  it('opens with the default, offers divisors and marks tails', () => {
    expect(field('.tvmlab-form input').value).toBe('auto, 4');
    expect(document.activeElement).toBe(find('.tvmlab-form input'));
    expect(find('[data-value="4"]').getAttribute('aria-pressed')).toBe('true');
    expect(find('[data-value="96"]').dataset['tail']).toBe('false');
  });

  it('checks a picked factor and applies it', async () => {
    find('[data-value="12"]').click();
    await settle(130);
    expect(asked('check').at(-1)).toMatchObject({
      action: 'split',
      params: { factors: [null, 12] }
    });
    expect(find('.tvmlab-outcome').textContent).toBe('✓ 96 × 4, no tail');
    submit('form');
    await settle();
    expect(asked('apply')).toMatchObject([
      { row: 'L0', action: 'split', params: { factors: [null, 12] } }
    ]);
    expect(find('.tvmlab-form').hasAttribute('hidden')).toBe(true);
  });

  it('marks what cannot be meant and does not send it', async () => {
    const input = field('.tvmlab-form input');
    input.value = '4, pony';
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await settle(130);
    expect(input.getAttribute('aria-invalid')).toBe('true');
    expect(asked('check')).toHaveLength(1);
  });

  it('is cancelled by Escape', () => {
    press('Escape', {}, '.tvmlab-form input');
    expect(find('.tvmlab-form').hasAttribute('hidden')).toBe(true);
    expect(asked('apply')).toEqual([]);
  });

  it('puts loops in another order', async () => {
    press('Escape', {}, '.tvmlab-form input');
    press('o');
    await settle();
    find('[data-item="L4"] [data-move="1"]').click();
    await settle(130);
    expect(asked('check').at(-1)).toMatchObject({ params: { loops: ['L5', 'L4', 'L6'] } });
    expect(all('[data-item]').map(item => item.dataset['item'])).toEqual(['L5', 'L4', 'L6']);
  });
});

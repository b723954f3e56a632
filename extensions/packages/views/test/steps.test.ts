import type { Action, Details, Param, Row } from '@tvmlab/schema';
import { describe, expect, it } from 'vitest';

import { details } from './fixture';
import { rows } from './fixtureRows';
import { all, asked, field, find, page, press, settle, submit, useExplorer } from './harness';

useExplorer();

function param(name: string, kind: Param['kind'], extra: Partial<Param> = {}): Param {
  const plain = { doc: '', default: null, choices: [], extent: null, optional: false };
  return { name, kind, ...plain, ...extra };
}

/** The form of a step that asks for a parameter of every kind. */
async function open(...params: Param[]): Promise<void> {
  const known = details('L1');
  const actions: Action[] = known.actions
    .slice(0, 1)
    .map(first => ({ ...first, id: 'step', primitive: 'step', title: 'step', params }));
  const data: Details = { ...known, actions };
  page.model.answers.set('actions', { data });
  press('ArrowDown');
  await settle();
  find('[data-action="step"]').click();
  await settle(10);
}

async function type(name: string, text: string): Promise<HTMLInputElement> {
  const input = field(`[data-field="${name}"] input`);
  input.value = text;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  await settle(130);
  return input;
}

const problem = (name: string): string | null =>
  find(`[data-field="${name}"] .tvmlab-problem`).textContent;

describe('the parameters of a step', () => {
  it('takes several whole numbers, negative ones and none at all', async () => {
    await open(param('points', 'ints', { default: [4, 8] }), param('order', 'ints'));
    expect(field('[data-field="points"] input').value).toBe('4, 8');
    await type('points', '(-1, 0, 7)');
    expect(asked('check').at(-1)).toMatchObject({ params: { points: [-1, 0, 7] } });
    const wrong = await type('points', '4, 2.5');
    expect(problem('points')).toContain('whole numbers');
    expect(wrong.getAttribute('aria-invalid')).toBe('true');
    await type('order', '');
    expect(problem('order')).toContain('whole numbers');
  });

  it('keeps what may be left out apart, and sends nothing for what is left empty', async () => {
    await open(
      param('first', 'int', { default: 1 }),
      param('offset', 'int', { default: 16, optional: true }),
      param('points', 'ints', { optional: true }),
      param('pad_value', 'text', { optional: true })
    );
    expect(all('.tvmlab-more [data-field]')).toHaveLength(3);
    await type('first', '0');
    await type('offset', '');
    await type('points', '');
    await type('pad_value', ' ');
    submit('.tvmlab-form');
    await settle();
    expect(asked('apply')).toMatchObject([
      { params: { first: 0, offset: null, points: null, pad_value: null } }
    ]);
  });

  it('says beside the field what cannot be meant', async () => {
    await open(param('factor', 'int', { default: 2 }), param('key', 'text', { default: 'hint' }));
    await type('factor', '');
    expect(problem('factor')).toBe('Give a whole number');
    await type('factor', '1.5');
    expect(problem('factor')).toContain('without a fraction');
    await type('factor', '-3');
    expect(problem('factor')).toBe('');
    await type('key', '');
    expect(problem('key')).toBe('This cannot be left empty');
    expect(asked('check').at(-1)).toMatchObject({ params: { factor: -3, key: 'hint' } });
  });

  it('takes truth values, choices and factors of one click', async () => {
    await open(
      param('signature', 'bool', { default: false }),
      param('thread', 'choice', {
        default: 'blockIdx.x',
        choices: ['blockIdx.x', 'vthread'].map(value => ({
          value,
          label: value,
          status: 'allowed',
          reason: ''
        }))
      }),
      param('fx', 'int', { default: 8, extent: 12 })
    );
    const box = field('[data-field="signature"] input');
    box.checked = true;
    box.dispatchEvent(new Event('input', { bubbles: true }));
    find('[data-value="vthread"]').click();
    find('[data-field="fx"] [data-value="6"]').click();
    await settle(130);
    expect(asked('check').at(-1)).toMatchObject({
      params: { signature: true, thread: 'vthread', fx: 6 }
    });
    expect(field('[data-field="fx"] input').value).toBe('6');
  });

  it('shows why something makes no step at all', async () => {
    page.model.answers.set('check', { ok: false, error: 'split: factors must be two', data: null });
    await open(param('factor', 'int', { default: 2 }));
    await settle(130);
    expect(find('.tvmlab-outcome').textContent).toContain('split: factors must be two.');
  });
});

describe('the families of steps', () => {
  it('stand under headings that count what can be done', () => {
    const headings = all('.tvmlab-families summary').map(heading => heading.textContent);
    expect(headings).toEqual(['shape of the loops3 of 4', 'how it runs1 of 3', 'memory1']);
  });

  it('stay folded for other lines, and their letters work all the same', async () => {
    const family = find('[data-family="how it runs"]') as HTMLDetailsElement;
    family.open = false;
    family.dispatchEvent(new Event('toggle'));
    press('ArrowDown');
    await settle();
    expect((find('[data-family="how it runs"]') as HTMLDetailsElement).open).toBe(false);
    press('u');
    await settle();
    expect(asked('apply')).toMatchObject([{ action: 'unroll' }]);
  });
});

describe('a refusal by two iterations', () => {
  it('shows both, what each does, and the element between them', async () => {
    press('p');
    await settle();
    const sides = all('.tvmlab-clash .tvmlab-iteration').map(side => side.textContent);
    expect(sides).toEqual(['C_locali_inner=0k_inner=0', 'C_locali_inner=0k_inner=1']);
    expect(all('.tvmlab-differs').map(value => value.textContent)).toEqual([
      'k_inner=0',
      'k_inner=1'
    ]);
    expect(find('.tvmlab-cell').textContent).toBe('C_local[0, 0]');
  });
});

describe('lines of other kinds', () => {
  const line = (kind: Row['kind'], extra: Partial<Row>): Row[] =>
    rows()
      .slice(0, 1)
      .map(loop => ({ ...loop, parent: null, depth: 0, note: null, kind, id: kind, ...extra }));

  it('tell threads, memory, notes and statements apart', () => {
    page.model.update({
      rows: [
        line('grid', { name: 'i', extent: 8, note: 'blockIdx.x' }),
        line('thread', { name: 'j', extent: 32, note: 'threadIdx.x' }),
        line('virtual', { name: 'v', extent: 2, note: 'interleaved' }),
        line('serial', { name: 'k', extent: 4, marks: ['pipelined in 2 stages'] }),
        line('buffer', {
          type: 'buffer',
          name: 'S',
          text: 'float32[8]',
          scope: 'shared',
          bytes: 32
        }),
        line('let', { type: 'statement', name: 'x', text: ' = A[i]' }),
        line('call', { type: 'statement', name: 'finish', text: '(B[0:8])' }),
        line('barrier', { type: 'statement', name: 'barrier', text: ' of shared memory' })
      ].flat()
    });
    const signs = all('.tvmlab-kind').map(kind => kind.textContent);
    expect(signs.join('')).toBe('GTIS▤=ƒ‖');
    expect(all('.tvmlab-row .tvmlab-text').map(text => text.textContent)).toEqual([
      'for i in thread(8, blockIdx.x)',
      'for j in thread(32, threadIdx.x)',
      'for v in virtual(2)  # interleaved',
      'for k in 4pipelined in 2 stages',
      'S: float32[8]  shared · 32 B',
      'x = A[i]',
      'finish(B[0:8])',
      'barrier of shared memory'
    ]);
    expect(find('.tvmlab-scope').dataset['scope']).toBe('shared');
    expect(find('[data-row="grid"]').getAttribute('aria-label')).toContain('blockIdx.x');
  });
});

import type { Command } from '@tvmlab/schema';
import { describe, expect, it, vi } from 'vitest';

import { mountExplorer } from '../src/index';
import { state } from './fixture';
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
import { MockModel } from './mockModel';

useExplorer();

describe('history, code and figures', () => {
  it('goes to a clicked state and shows gains as what they are', () => {
    find('[data-node="3"]').click();
    expect(asked('goto')).toMatchObject([{ node: '3' }]);
    expect(all('.tvmlab-gain').map(gain => gain.textContent)).toEqual([
      '1.00×',
      '1.10× in noise',
      '6.3×',
      '9.8×',
      '61×',
      '118×',
      '226×',
      '▼ 0.61×'
    ]);
  });

  it('names a checkpoint', async () => {
    find('[data-command="name"]').click();
    const input = field('.tvmlab-naming input');
    expect(document.activeElement).toBe(input);
    input.value = ' tiled ';
    submit('.tvmlab-naming');
    await settle();
    expect(asked('checkpoint')).toMatchObject([{ name: 'tiled' }]);
    expect(page.host.querySelector('.tvmlab-naming')).toBeNull();
  });

  it('fetches code when its tab is opened, once for a program', async () => {
    find('[data-tab="llvm"]').click();
    await settle();
    expect(find('.tvmlab-listing').textContent).toBe('; llvm of this program\nret i32 0');
    find('[data-tab="python"]').click();
    expect(find('.tvmlab-lit').textContent).toBe('sch.parallel(i_outer)');
    find('[data-tab="llvm"]').click();
    expect(asked('source').filter(sent => 'kind' in sent && sent.kind === 'llvm')).toHaveLength(1);
  });

  it('says while a listing is still that of the state before', async () => {
    find('[data-tab="llvm"]').click();
    await settle();
    expect(find('.tvmlab-listing').getAttribute('aria-busy')).toBe('false');
    page.model.update({ history: { ...state().history, current: '3' } });
    expect(find('.tvmlab-listing').getAttribute('aria-busy')).toBe('true');
    await settle();
    expect(find('.tvmlab-listing').getAttribute('aria-busy')).toBe('false');
  });

  it('opens the proposals from the header', () => {
    find('[data-command="next"]').click();
    expect(find('[data-insight="suggest"]').getAttribute('aria-selected')).toBe('true');
  });

  it('marks old figures and a wrong result', () => {
    page.model.update({ measurement: { ...state().measurement, stale: true, equal: false } });
    const status = find('.tvmlab-stat').textContent;
    expect(status).toContain('2.75 ms median of 30quartiles 2.73–2.79 ms391 GFLOP/sstale');
    expect(status).toContain('✗ differs from the unscheduled program');
  });

  it('offers to stop while measuring', () => {
    page.model.update({ measurement: { ...state().measurement, status: 'running' } });
    find('[data-command="cancel"]').click();
    expect(asked('cancel')).toHaveLength(1);
  });

  it('draws a new point when one is measured, and reads points by keyboard', () => {
    const before = all('.tvmlab-point').length;
    const point = { node: null, label: 'new', measured: 100, predicted: 90, current: false };
    page.model.update({ plot: { ...state().plot, points: [...state().plot.points, point] } });
    expect(all('.tvmlab-point')).toHaveLength(before + 1);
    press('ArrowLeft', {}, '.tvmlab-plot svg');
    expect(find('.tvmlab-readout').textContent).toBe('new: measured 100, predicted 90.0 GFLOP/s');
  });
});

describe('the learned model', () => {
  const point = { node: null, label: 'found', measured: 50, predicted: 40, current: false };

  it('is trained on a click and shows how far it is', () => {
    find('[data-command="explore"]').click();
    expect(asked('explore')).toMatchObject([{ count: 16 }]);
    const job = {
      kind: 'explore',
      title: 'measuring random schedules',
      done: 3,
      total: 16
    } as const;
    page.model.update({ job: { ...job, message: null } });
    expect(find('.tvmlab-stat').textContent).toContain('◷ measuring random schedules 3/16');
    find('[data-command="cancel"]').click();
    expect(asked('cancel')).toHaveLength(1);
  });

  it('says what it stands on', () => {
    page.model.update({ plot: { ...state().plot, message: 'model of 24 schedules' } });
    expect(find('.tvmlab-foot').textContent).toContain('model of 24 schedules');
  });

  it('opens the schedule of a clicked point: a known state, or a new branch', async () => {
    const points = [{ ...point, node: '3' }, { ...point, id: 'p7' }, point];
    page.model.update({ plot: { ...state().plot, points } });
    for (const mark of all('.tvmlab-point')) {
      mark.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    }
    await settle();
    expect(asked('goto')).toMatchObject([{ node: '3' }]);
    expect(asked('load')).toMatchObject([{ point: 'p7' }]);
  });
});

describe('a session that does not answer', () => {
  it('says that the kernel is busy after 300 ms, until an answer comes', async () => {
    vi.useFakeTimers();
    page.model.silent = true;
    press('m');
    vi.advanceTimersByTime(299);
    expect(find('.tvmlab-note').textContent).toBe('');
    vi.advanceTimersByTime(2);
    expect(find('.tvmlab-note').textContent).toContain('Kernel busy');
    const [measure] = asked('measure');
    page.model.answer(measure as Command);
    await vi.runAllTimersAsync();
    expect(find('.tvmlab-note').textContent).toBe('');
  });

  it('stays readable when the session has gone, says why, and asks for nothing more', async () => {
    page.model.emit({
      kind: 'connection',
      connection: { state: 'gone', reason: 'Run the cell again.' }
    });
    expect(find('.tvmlab-note').textContent).toBe('⊘ Session goneRun the cell again.');
    const before = page.model.asked.length;
    press('u');
    press('m');
    find('[data-node="3"]').click();
    await settle();
    expect(page.model.asked).toHaveLength(before);
    expect(find('[data-command="measure"]').hasAttribute('disabled')).toBe(true);
    expect(all('.tvmlab-row')).toHaveLength(11);
  });

  it('waits for the first state and then draws', async () => {
    const late = new MockModel(null);
    const place = document.createElement('div');
    const view = mountExplorer(late, place);
    expect(place.textContent).toContain('Connecting…');
    expect(late.asked).toMatchObject([{ type: 'state' }]);
    late.emit({ kind: 'message', message: { type: 'state', state: state() } });
    await settle();
    expect(place.querySelectorAll('.tvmlab-row')).toHaveLength(11);
    expect(place.textContent).not.toContain('Connecting…');
    view.dispose();
    expect(place.childNodes).toHaveLength(0);
  });
});

describe('state messages', () => {
  it('takes patches in order and asks for the state on a gap', () => {
    const patch = (revision: number, name: string): void =>
      page.model.emit({
        kind: 'message',
        message: { type: 'patch', revision, set: { workload: { name, summary: '' } } }
      });
    patch(13, 'next');
    expect(find('.tvmlab-head b').textContent).toBe('next');
    patch(15, 'lost one');
    expect(find('.tvmlab-head b').textContent).toBe('next');
    expect(asked('state')).toHaveLength(1);
  });

  it('keeps the selection through a step, or takes the line now at its place', () => {
    press('End');
    page.model.update({ rows: rows().slice(0, 4) });
    expect(selected()).toBe('L2');
  });
});

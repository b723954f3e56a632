import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type IExplorer, mountGraph } from '../src/index';
import { graphState, MockGraph } from './graphFixture';

let host: HTMLElement;
let model: MockGraph;
let view: IExplorer;

beforeEach(() => {
  host = document.createElement('div');
  document.body.append(host);
  model = new MockGraph(graphState(300));
  view = mountGraph(model, host);
});

afterEach(() => {
  view.dispose();
  host.remove();
});

function find(selector: string): HTMLElement {
  const element = host.querySelector<HTMLElement>(selector);
  if (element === null) {
    throw new Error(`nothing matches ${selector}`);
  }
  return element;
}

function press(...keys: string[]): void {
  for (const key of keys) {
    find('[role=treegrid]').dispatchEvent(
      new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
    );
  }
}

/** The text of the line that the grid names as active. */
function active(): string {
  const id = find('[role=treegrid]').getAttribute('aria-activedescendant') ?? '';
  return document.getElementById(id)?.textContent ?? '';
}

function search(text: string): void {
  const field = find('[type=search]') as HTMLInputElement;
  field.value = text;
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

describe('the grid of kernels', () => {
  it('keeps only lines in sight on the page', () => {
    expect(host.querySelectorAll('[role=row]').length).toBeLessThan(80);
    expect(find('[role=treegrid]').getAttribute('aria-rowcount')).toBe('300');
  });

  it('walks by keys, and opens a kernel to its nodes', () => {
    press('ArrowDown', 'ArrowRight');
    expect(active()).toContain('conv1 (+1)');
    expect(find('[aria-expanded=true]').textContent).toContain('conv1');
    press('ArrowDown', 'ArrowDown');
    expect(active()).toContain('relu1');
    press('ArrowLeft');
    expect(active()).toContain('conv1 (+1)');
    expect(host.querySelector('[aria-expanded=true]')).toBeNull();
  });

  it('searches names, operators and shapes, and says when nothing is found', () => {
    search('softmax');
    expect(find('.tvmlab-head').textContent).toContain('1 of 300');
    search('float32[1, conv7 ');
    expect(active()).toContain('conv7');
    search('lstm');
    expect(find('.tvmlab-none').textContent).toContain('“lstm”');
  });

  it('goes to the kernel that makes a value', () => {
    press('ArrowDown', 'ArrowDown');
    find('[data-go="1"]').click();
    expect(active()).toContain('conv1 (+1)');
    expect(find('[aria-label="Selected kernel"]').textContent).toContain('a kernel has one');
  });
});

describe('the passes', () => {
  it('show the nodes before and after when one is opened', async () => {
    const details = find('details.tvmlab-pass');
    details.setAttribute('open', '');
    details.dispatchEvent(new Event('toggle'));
    await settled();
    expect(details.textContent).toContain('norm = batch_norm(x)');
    expect(find('.tvmlab-idle').textContent).toContain('rewrite by algebra');
  });
});

describe('the schedule of a kernel', () => {
  it('takes the place of the graph, and can be pinned', async () => {
    expect((find('[data-do=pin]') as HTMLButtonElement).disabled).toBe(true);
    press('ArrowDown', 'Enter');
    await settled();
    expect(model.asked).toMatchObject([{ type: 'open', row: '1' }]);
    expect(model.inner[0]).toMatchObject({ session: 's7', message: { type: 'state' } });
    find('.tvmlab-graph-inner [data-do=pin]').click();
    expect(model.asked[1]).toMatchObject({ type: 'pin', row: '1' });
    find('[data-do=back]').click();
    expect(find('.tvmlab-graph-inner').hasAttribute('hidden')).toBe(true);
    expect((find('.tvmlab-side [data-do=pin]') as HTMLButtonElement).disabled).toBe(false);
  });

  it('says what the session says, and when the kernel has gone', () => {
    model.update({ job: 'measuring' });
    expect(find('[aria-live]').textContent).toBe('measuring');
    model.emit({ kind: 'connection', connection: { state: 'gone', reason: 'restarted' } });
    expect(find('.tvmlab-said').textContent).toContain('run the cell again');
  });
});

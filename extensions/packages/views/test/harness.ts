import type { Command } from '@tvmlab/schema';
import { afterEach, beforeEach, vi } from 'vitest';

import { type IExplorer, mountExplorer } from '../src/index';
import { state } from './fixture';
import { MockModel } from './mockModel';

/** What is on the page in the running test. */
interface IPage {
  host: HTMLElement;
  model: MockModel;
  explorer: IExplorer;
}

export let page: IPage;

/** Give each test of a file an explorer over the fixture. */
export function useExplorer(): void {
  beforeEach(async () => {
    Element.prototype.scrollIntoView = () => undefined; // jsdom lays nothing out
    const host = document.createElement('div');
    document.body.append(host);
    const model = new MockModel(state());
    page = { host, model, explorer: mountExplorer(model, host) };
    await settle();
  });
  afterEach(() => {
    page.explorer.dispose();
    page.host.remove();
    vi.useRealTimers();
  });
}

/** Let answers arrive. */
export function settle(milliseconds = 0): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}

export function all(selector: string): HTMLElement[] {
  return [...page.host.querySelectorAll<HTMLElement>(selector)];
}

export function find(selector: string): HTMLElement {
  const [element] = all(selector);
  if (element === undefined) {
    throw new Error(`nothing matches ${selector}`);
  }
  return element;
}

export function field(selector: string): HTMLInputElement {
  return find(selector) as HTMLInputElement;
}

export function press(key: string, more: KeyboardEventInit = {}, at = '.tvmlab-tree'): void {
  const init = { key, bubbles: true, cancelable: true, ...more };
  find(at).dispatchEvent(new KeyboardEvent('keydown', init));
}

export function submit(selector: string): void {
  find(selector).dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
}

/** The commands of one type that the session was sent. */
export function asked(type: Command['type']): Command[] {
  return page.model.asked.filter(command => command.type === type);
}

/** The id of the selected line. */
export function selected(): string | undefined {
  return find('.tvmlab-row[aria-selected="true"]').dataset['row'];
}

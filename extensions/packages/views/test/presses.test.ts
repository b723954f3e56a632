import { afterEach, describe, expect, it } from 'vitest';

import { mountExplorer, publishPreferences } from '../src/index';
import { find, page, selected, settle, useExplorer } from './harness';

useExplorer();
afterEach(() => publishPreferences({}));

const line = (id: string): HTMLElement => find(`.tvmlab-row[data-row="${id}"]`);

/** Press at an element, with something happening before the button comes up there. */
function pressAt(id: string, between: () => void): void {
  // jsdom has no events of pointers; those of a mouse carry what is looked at.
  const event = (type: string): Event => new MouseEvent(type, { bubbles: true, button: 0 });
  line(id).dispatchEvent(event('pointerdown'));
  between();
  // The page of the tests has no layout; the pointer is over the line that is there now.
  document.elementFromPoint = () => line(id).firstElementChild;
  line(id).dispatchEvent(event('pointerup'));
}

describe('a press', () => {
  it('is a click also when its line was drawn anew meanwhile', async () => {
    const before = line('L4');
    pressAt('L4', () => publishPreferences({ time: 'ns' }));
    await settle();
    expect(line('L4')).not.toBe(before);
    expect(selected()).toBe('L4');
  });

  it('is left to the browser where the line is still there', async () => {
    const first = selected();
    pressAt('L4', () => undefined);
    await settle();
    expect(selected()).toBe(first);
  });
});

describe('a shadow tree', () => {
  it('gets the styles itself, and the page is left alone', () => {
    const host = document.createElement('div');
    page.host.append(host);
    const tree = host.attachShadow({ mode: 'open' });
    const place = document.createElement('div');
    tree.append(place);
    const explorer = mountExplorer(page.model, place);
    expect(tree.querySelectorAll('style')).toHaveLength(1);
    expect(tree.querySelectorAll('[role=treeitem]').length).toBeGreaterThan(0);
    explorer.dispose();
  });
});

/** The design page: the explorer over the fixture, to look at in a browser (`npm run page`). */
import { mountExplorer } from '../src/index';
import { state } from './fixture';
import { MockModel } from './mockModel';

const asked = new URLSearchParams(location.search);
document.body.dataset['theme'] = asked.get('theme') ?? 'light';
const host = document.createElement('div');
host.style.width = `${asked.get('width') ?? '1120'}px`;
document.body.append(host);
const model = new MockModel(state());
const explorer = mountExplorer(model, host);

const press = (key: string, more: KeyboardEventInit = {}): void => {
  host
    .querySelector('.tvmlab-tree')
    ?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, ...more }));
};
const scenes: Record<string, () => void> = {
  split: () => press('s'),
  refused: () => press('p'),
  cache: () => press('c'),
  order: () => press('o'),
  help: () => press('?'),
  palette: () => press('/'),
  move: () => {
    press('g');
    setTimeout(() => press('ArrowUp'), 60);
  },
  llvm: () => host.querySelector<HTMLElement>('[data-tab="llvm"]')?.click(),
  stale: () => model.update({ measurement: { ...state().measurement, stale: true, equal: null } }),
  busy: () => model.emit({ kind: 'connection', connection: { state: 'busy' } }),
  gone: () =>
    model.emit({
      kind: 'connection',
      connection: {
        state: 'gone',
        reason: 'The kernel restarted. Run the cell again to get a new session.'
      }
    })
};
host.querySelector<HTMLElement>('[data-row="L4"]')?.click();
explorer.focus();
setTimeout(() => {
  for (const scene of (asked.get('scene') ?? '').split(',')) {
    scenes[scene]?.();
  }
}, 50);

import type { Action } from '@tvmlab/schema';

import { h } from '../dom';
import type { IViewState } from '../viewState';
import { Part } from './part';

const KEYS: readonly [readonly string[], string][] = [
  [['↑', '↓'], 'move through the lines'],
  [['←', '→'], 'fold, unfold'],
  [['⇧↑', '⇧↓'], 'move the loop out, in'],
  [['G'], 'move the line: see every place'],
  [['/'], 'find a step, command or line'],
  [['Enter'], 'parameters'],
  [['Esc'], 'cancel'],
  [['Ctrl Z'], 'undo'],
  [['Ctrl ⇧ Z'], 'redo'],
  [['M'], 'measure'],
  [['?'], 'this list']
];

/** All keys; those of the selected line come from its actions. */
export class Help extends Part<IViewState> {
  constructor() {
    super(
      h('div', {
        class: 'tvmlab-help',
        role: 'dialog',
        'aria-label': 'Keys',
        tabindex: -1,
        hidden: true
      })
    );
  }

  protected inputs({ help, details }: IViewState): readonly unknown[] {
    return [help, details];
  }

  protected draw({ help, details }: IViewState): void {
    this.element.toggleAttribute('hidden', !help);
    if (!help) {
      this.element.replaceChildren();
      return;
    }
    const letters = (details?.actions ?? []).filter(action => action.key?.length === 1);
    this.element.replaceChildren(
      h(
        'div',
        {},
        h('h4', {}, 'Keys'),
        list(KEYS),
        h('h4', {}, 'For the selected line'),
        list(letters.map(letterOf)),
        h(
          'button',
          { class: 'tvmlab-btn', type: 'button', 'data-command': 'help' },
          'Close',
          h('span', { class: 'tvmlab-key' }, 'Esc')
        )
      )
    );
    this.element.focus();
  }
}

function letterOf(action: Action): [string[], string] {
  return [[(action.key ?? '').toUpperCase()], action.title];
}

function list(keys: readonly (readonly [readonly string[], string])[]): HTMLElement {
  return h(
    'dl',
    {},
    ...keys.flatMap(([signs, text]) => [
      h('dt', {}, ...signs.map(sign => h('span', { class: 'tvmlab-key' }, sign))),
      h('dd', {}, text)
    ])
  );
}

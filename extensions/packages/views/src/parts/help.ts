import type { Action } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import type { IViewState } from '../viewState';
import { Part } from './part';

const KEYS: readonly [readonly string[], string][] = [
  [['↑', '↓'], marked('move through the lines')],
  [['←', '→'], marked('fold, unfold')],
  [['⇧↑', '⇧↓'], marked('move the loop out, in')],
  [['G'], marked('move the line: see every place')],
  [['/'], marked('find a step, command or line')],
  [['Enter'], marked('parameters')],
  [['Esc'], marked('cancel')],
  [['Ctrl Z'], marked('undo')],
  [['Ctrl ⇧ Z'], marked('redo')],
  [['M'], marked('measure')],
  [['?'], marked('this list')]
];

/** All keys; those of the selected line come from its actions. */
export class Help extends Part<IViewState> {
  constructor() {
    super(
      h('div', {
        class: 'tvmlab-help',
        role: 'dialog',
        'aria-label': t(t('Keys')),
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
        h('h4', {}, t('Keys')),
        list(KEYS),
        h('h4', {}, t('For the selected line')),
        list(letters.map(letterOf)),
        h(
          'button',
          { class: 'tvmlab-btn', type: 'button', 'data-command': 'help' },
          t('Close'),
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
      h('dd', {}, t(text))
    ])
  );
}

import { h, uniqueId } from '../dom';
import type { IViewState, Tab } from '../viewState';
import { Part } from './part';

export const TABS: readonly [Tab, string][] = [
  ['python', 'Python'],
  ['loops', 'Loops'],
  ['lowered', 'Lowered'],
  ['llvm', 'LLVM IR'],
  ['asm', 'Assembly']
];

/** The session as code: Python to keep, and what the compiler makes of it. */
export class Code extends Part<IViewState> {
  constructor() {
    super(h('section', { class: 'tvmlab-code', 'aria-label': 'Code' }));
    this._list.append(
      ...TABS.map(([tab, label]) =>
        h(
          'button',
          {
            class: 'tvmlab-tab',
            type: 'button',
            role: 'tab',
            id: `${this._id}-${tab}`,
            'data-tab': tab,
            'aria-controls': this._id
          },
          label
        )
      )
    );
    this.element.append(this._list, this._listing);
  }

  protected inputs({ session, tab, answers }: IViewState): readonly unknown[] {
    return [session.python, session.history, tab, answers.get(`source:${tab}`)];
  }

  protected draw({ session, tab, answers }: IViewState): void {
    for (const button of this._list.querySelectorAll('[data-tab]')) {
      const on = button.getAttribute('data-tab') === tab;
      button.setAttribute('aria-selected', String(on));
      button.setAttribute('tabindex', on ? '0' : '-1');
    }
    this._listing.setAttribute('aria-labelledby', `${this._id}-${tab}`);
    if (tab === 'python') {
      const { nodes, current } = session.history;
      this._python(session.python, nodes.find(node => node.id === current)?.code ?? '');
      return;
    }
    const source = answers.get(`source:${tab}`);
    const text = source?.data && 'text' in source.data ? source.data.text : undefined;
    // A long listing is one text node: no element for each of ten thousand lines.
    this._listing.textContent = source?.error ?? text ?? 'Compiling…';
  }

  /** The program, with the newest step lit. */
  private _python(text: string, newest: string): void {
    const lines = text === '' ? ['# no step yet'] : text.replace(/\n$/, '').split('\n');
    const lit = newest === '' ? -1 : lines.lastIndexOf(newest);
    this._listing.replaceChildren(
      ...lines.map((line, index) =>
        h('span', { class: index === lit ? 'tvmlab-lit' : '' }, line === '' ? '\u00a0' : line)
      )
    );
  }

  private readonly _id = uniqueId('code');
  private readonly _list = h('div', {
    class: 'tvmlab-tabs',
    role: 'tablist',
    'aria-label': 'Code'
  });
  private readonly _listing = h('pre', {
    class: 'tvmlab-listing',
    role: 'tabpanel',
    tabindex: 0,
    id: this._id
  });
}

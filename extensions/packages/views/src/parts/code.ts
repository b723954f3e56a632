import type { Source } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h, uniqueId } from '../dom';
import { percent } from '../format';
import { type IViewState, rowOf, type Tab } from '../viewState';
import { VirtualLines } from '../virtualLines';
import { highlighted } from './highlight';
import { Part } from './part';
import { Passes } from './passes';
import { throughput } from './throughput';

export const TABS: readonly [Tab, string][] = [
  ['python', marked('Python')],
  ['loops', marked('Loops')],
  ['passes', marked('Passes')],
  ['lowered', marked('Lowered')],
  ['llvm', marked('LLVM IR')],
  ['asm', marked('Assembly')]
];

const LINE_HEIGHT = 18;
const MOST_MARKS = 400;

/** The session as code, each line linked to the lines of the nest that it comes from. */
export class Code extends Part<IViewState> {
  constructor() {
    super(h('section', { class: 'tvmlab-code', 'aria-label': t('Code') }));
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
          t(label)
        )
      )
    );
    const body = h('div', { class: 'tvmlab-listing-box' }, this._listing, this._ruler);
    this._row.append(body, this._inner);
    this.element.append(this._list, this._row, this._passes.element, this._note);
    this._lines.onLine = (line, index) => this._light(line, index);
  }

  override render(view: IViewState): void {
    this._around = linesAround(view);
    super.render(view);
    this._passes.render(view);
    if (view.selected !== this._selected) {
      this._selected = view.selected;
      this._relight(view.tab !== 'python');
      this._report();
    }
  }

  private _report(): void {
    const found = this._source === null ? [] : throughput(this._source, this._around);
    this._inner.replaceChildren(...found);
    this._inner.toggleAttribute('hidden', found.length === 0);
  }

  /** The lines of the nest that a line of the listing belongs to. */
  familyOf(index: number): readonly string[] {
    const group = this._source?.lines[index] ?? -1;
    return this._source?.groups[group] ?? [];
  }

  protected inputs({ session, tab, answers }: IViewState): readonly unknown[] {
    return [session.python, session.history, tab, answers.get(`source:${tab}`)];
  }

  protected draw({ session, tab, answers, selected }: IViewState): void {
    for (const button of this._list.querySelectorAll('[data-tab]')) {
      const on = button.getAttribute('data-tab') === tab;
      button.setAttribute('aria-selected', String(on));
      button.setAttribute('tabindex', on ? '0' : '-1');
    }
    this._listing.setAttribute('aria-labelledby', `${this._id}-${tab}`);
    this._row.toggleAttribute('hidden', tab === 'passes');
    this._note.toggleAttribute('hidden', tab === 'passes');
    if (tab === 'passes') {
      return;
    }
    const answer = answers.get(`source:${tab}`);
    const data =
      answer?.data && 'text' in answer.data && 'groups' in answer.data ? answer.data : null;
    const fits = tab !== 'python' || data?.text === session.python;
    this._source = fits ? data : null;
    // What is shown may still be of the state before.
    const fresh = answer?.version === session.history.current;
    this._listing.setAttribute('aria-busy', String(!fresh));
    const text =
      tab === 'python' ? session.python : (answer?.error ?? data?.text ?? t('Compiling…'));
    this._texts = text === '' ? [t('# no step yet')] : text.replace(/\n$/, '').split('\n');
    const { nodes, current } = session.history;
    const newest = nodes.find(node => node.id === current)?.code ?? '';
    this._newest = tab === 'python' && newest !== '' ? this._texts.lastIndexOf(newest) : -1;
    this._selected = selected;
    const last = this._texts.length - 1;
    this._lines.show(this._texts.length, index =>
      h(
        'span',
        { class: 'tvmlab-line', 'data-line': index },
        ...highlighted(`${this._texts[index] ?? ''}${index === last ? '' : '\n'}`)
      )
    );
    this._note.textContent = noteOf(this._source);
    this._relight(tab !== 'python');
    this._report();
  }

  /** Light the lines of the selected line of the nest, and mark where they are. */
  private _relight(reveal: boolean): void {
    this._lines.forEach((line, index) => this._light(line, index));
    const hits = this._selected === null ? [] : this._hits(this._selected);
    const height = 100 / Math.max(1, this._texts.length);
    // A listing that is seen as a whole needs no map of itself.
    const { scrollHeight, clientHeight } = this._listing;
    this._ruler.toggleAttribute('hidden', scrollHeight <= clientHeight);
    this._ruler.replaceChildren(
      ...hits
        .slice(0, MOST_MARKS)
        .map(index => h('i', { style: `top:${(index * height).toFixed(2)}%` }))
    );
    const [first] = hits;
    if (reveal && first !== undefined) {
      this._lines.reveal(first);
    }
  }

  private _hits(row: string): number[] {
    const own = this._texts.map((_, index) => index).filter(i => this.familyOf(i)[0] === row);
    return own.length > 0
      ? own
      : this._texts.map((_, index) => index).filter(i => this.familyOf(i).includes(row));
  }

  private _light(line: HTMLElement, index: number): void {
    const family = this.familyOf(index);
    const at = this._selected === null ? -1 : family.indexOf(this._selected);
    const own = at === 0 || (at > 0 && this._newest >= 0);
    line.classList.toggle('tvmlab-lit', own || index === this._newest);
    line.classList.toggle('tvmlab-around', at > 0 && !own);
  }

  private readonly _id = uniqueId('code');
  private readonly _list = h('div', {
    class: 'tvmlab-tabs',
    role: 'tablist',
    'aria-label': t('Code')
  });
  private readonly _listing = h('pre', {
    class: 'tvmlab-listing',
    role: 'tabpanel',
    tabindex: 0,
    id: this._id
  });
  private readonly _lines = new VirtualLines(this._listing, LINE_HEIGHT);
  private readonly _ruler = h('div', { class: 'tvmlab-ruler', 'aria-hidden': 'true' });
  private readonly _row = h('div', { class: 'tvmlab-listing-row' });
  private readonly _inner = h('aside', {
    class: 'tvmlab-inner-loop',
    'aria-label': t('Inner loop'),
    tabindex: 0,
    hidden: true
  });
  private readonly _passes = new Passes();
  private readonly _note = h('div', { class: 'tvmlab-code-note' });
  private _source: Source | null = null;
  private _texts: readonly string[] = [];
  private _newest = -1;
  private _around: readonly string[] = [];
  private _selected: string | null = null;
}

/** The selected line and those that it is in, innermost first. */
function linesAround({ session, selected }: IViewState): string[] {
  const found: string[] = [];
  for (let row = rowOf(session, selected); row !== null; row = rowOf(session, row.parent)) {
    found.push(row.id);
  }
  return found;
}

/** How much of a listing can be traced to its lines, and what it is made of. */
function noteOf(source: Source | null): string {
  if (source === null || source.kind === 'python') {
    return ''; // a step is its own origin
  }
  const share = percent(source.coverage);
  const known =
    source.kind === 'llvm' || source.kind === 'asm'
      ? t('the origin of %1 of the instructions is known', share)
      : t('the origin of %1 of the lines is known', share);
  return source.remark === '' ? known : `${source.remark} · ${known}`;
}

import type { SearchCommand, SearchReply, SearchState } from '@tvmlab/schema';

import { t } from '../hostPage';
import { closestData, h, treeOf } from '../dom';
import { mountExplorer } from '../explorer';
import { InnerModel } from '../graph/innerModel';
import type { IViewModel } from '../model';
import type { IExplorer } from '../notice';
import { Requests, type Unnumbered } from '../requests';
import { addStyles } from '../style/styles';
import { Chart } from './chart';
import { predictionChart, progressChart, rankChart } from './charts';
import { Coordinates } from './coordinates';
import { SearchHead } from './head';
import { bestList, failureList, knobList } from './lists';

/** Show the search behind a model in an element. */
export function mountSearch(
  model: IViewModel,
  element: HTMLElement,
  take: Take | null = null
): IExplorer {
  addStyles(element);
  return new SearchView(model, element, take);
}

/** Has the schedule of a trial opened elsewhere; resolves to what is to be said of that. */
export type Take = (trial: number) => Promise<string>;

/** The live view of a search; the schedule of a trial takes its place while it is open. */
class SearchView implements IExplorer {
  constructor(
    model: IViewModel,
    element: HTMLElement,
    private readonly _take: Take | null
  ) {
    this._model = model;
    this._client = new Requests<SearchState, SearchCommand, SearchReply>(model, 'search', () =>
      this._draw()
    );
    this._root.addEventListener('click', event => this._click(event.target));
    // What is drawn anew under a pressed button would not be clicked.
    this._root.addEventListener('pointerdown', () => (this._pressed = true));
    for (const name of ['pointerup', 'pointercancel'] as const) {
      document.addEventListener(name, this._released);
    }
    element.append(this._root);
    this._draw();
  }

  dispose(): void {
    for (const name of ['pointerup', 'pointercancel'] as const) {
      document.removeEventListener(name, this._released);
    }
    this._explorer?.dispose();
    this._client.dispose();
    this._root.remove();
  }

  focus(): void {
    this._frame.querySelector<HTMLElement>('svg, button')?.focus();
  }

  private _draw(): void {
    const { state } = this._client;
    const gone = this._client.connection.state === 'gone';
    this._root.classList.toggle('tvmlab-gone', gone);
    if (state === null) {
      return;
    }
    if (state.revision !== this._revision && !this._pressed) {
      this._revision = state.revision;
      const held = focusedButton(this._root);
      this._head.show(state);
      this._progress.render(progressChart(state));
      this._predictions.render(predictionChart(state));
      this._rank.render(rankChart(state));
      this._coordinates.render(state);
      this._best.replaceChildren(...bestList(state));
      this._knobs.replaceChildren(...knobList(state));
      this._failures.replaceChildren(...failureList(state));
      held?.();
    }
    const words = gone ? t('The kernel has gone; run the cell again.') : state.note;
    if (words !== this._said.textContent) {
      this._said.textContent = words;
    }
  }

  private _click(target: EventTarget | null): void {
    const command = closestData(target, 'do');
    const trial = closestData(target, 'open')?.value;
    if (command?.value === 'back') {
      this._close();
    } else if (command?.value === 'start') {
      const more = Number(command.element.dataset['more']);
      void this._ask({ type: 'start', more });
    } else if (command !== null && !this._inner.contains(target as Node)) {
      void this._ask({ type: command.value as 'pause' | 'resume' | 'stop' });
    } else if (trial !== undefined && !this._inner.contains(target as Node)) {
      void this._open(Number(trial));
    }
  }

  private async _ask(command: Unnumbered<SearchCommand>): Promise<void> {
    const { error } = await this._client.request(command);
    if (error !== null) {
      this._said.textContent = error;
    }
  }

  /** Show the schedule of a trial in place of the search, which goes on. */
  private async _open(trial: number): Promise<void> {
    if (this._take !== null) {
      this._said.textContent = await this._take(trial);
      return;
    }
    const { data, error } = await this._client.request({ type: 'open', trial });
    if (data === null) {
      this._said.textContent = error ?? '';
      return;
    }
    this._explorer?.dispose();
    this._innerName.textContent = data.name;
    this._inner.removeAttribute('hidden');
    this._frame.setAttribute('hidden', '');
    this._explorer = mountExplorer(new InnerModel(this._model, data.session), this._inner);
    this._explorer.focus();
  }

  private _close(): void {
    this._explorer?.dispose();
    this._explorer = null;
    this._inner.setAttribute('hidden', '');
    this._frame.removeAttribute('hidden');
    this.focus();
  }

  private readonly _model: IViewModel;
  private readonly _client: Requests<SearchState, SearchCommand, SearchReply>;
  private _revision = -1;
  private _pressed = false;
  private readonly _released = (): void => {
    if (this._pressed) {
      this._pressed = false;
      // After the click, which comes behind this.
      setTimeout(() => this._draw());
    }
  };
  private _explorer: IExplorer | null = null;
  private readonly _toOpen = (trial: number): void => void this._open(trial);
  private readonly _head = new SearchHead();
  private readonly _progress = new Chart(t('Best so far'), this._toOpen);
  private readonly _predictions = new Chart(t('Predicted against measured'), this._toOpen);
  private readonly _rank = new Chart(t('Rank correlation'), this._toOpen);
  private readonly _coordinates = new Coordinates(this._toOpen);
  private readonly _best = h('section', {
    class: 'tvmlab-values',
    'aria-label': t('Fastest')
  });
  private readonly _knobs = h('section', {
    class: 'tvmlab-values',
    'aria-label': t('What matters')
  });
  private readonly _failures = h('section', {
    class: 'tvmlab-values',
    'aria-label': t('Failures')
  });
  private readonly _said = h('span', { class: 'tvmlab-said', role: 'status' });
  private readonly _frame = h(
    'div',
    { class: 'tvmlab-search-frame' },
    this._head.element,
    h(
      'div',
      { class: 'tvmlab-search-plots' },
      this._progress.element,
      this._predictions.element,
      this._rank.element
    ),
    this._coordinates.element,
    h('div', { class: 'tvmlab-search-lists' }, this._best, this._knobs, this._failures),
    h('div', { class: 'tvmlab-stat' }, this._said)
  );
  private readonly _innerName = h('b', { class: 'tvmlab-mono' });
  private readonly _inner = h(
    'div',
    { class: 'tvmlab-graph-inner', hidden: true },
    h(
      'div',
      { class: 'tvmlab-head' },
      h('button', { type: 'button', class: 'tvmlab-btn', 'data-do': 'back' }, `← ${t('Search')}`),
      this._innerName
    )
  );
  private readonly _root = h(
    'div',
    { class: 'tvmlab tvmlab-explorer tvmlab-search-view' },
    this._frame,
    this._inner
  );
}

/** Gives the focus back to the button that has it now, though it will be drawn anew. */
function focusedButton(root: HTMLElement): (() => void) | null {
  const focused = treeOf(root).activeElement;
  if (!(focused instanceof HTMLElement) || !root.contains(focused)) {
    return null;
  }
  const { open } = focused.dataset;
  const where =
    open !== undefined
      ? `[data-open="${open}"]`
      : focused.dataset['do'] !== undefined
        ? '.tvmlab-head [data-do]'
        : null;
  return where === null ? null : () => root.querySelector<HTMLElement>(where)?.focus();
}

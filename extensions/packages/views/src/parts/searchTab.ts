import type { ReplyMessage } from '@tvmlab/schema';

import { t } from '../hostPage';
import type { Request } from '../client';
import { h } from '../dom';
import type { Change, IViewModel } from '../model';
import type { IExplorer } from '../notice';
import { mountSearch } from '../search/search';
import type { IViewState } from '../viewState';

type Ask = (request: Request) => Promise<ReplyMessage>;

/** Handing the schedule to a search, and watching that: its view lives inside this tab. */
export class SearchTab {
  readonly element = h('div', { class: 'tvmlab-search-tab' });

  constructor(ask: Ask) {
    this._ask = ask;
    this._model = new SearchModel(ask);
    // Its points are trials: they are no points of the plot of this session.
    this._place.addEventListener('click', event => event.stopPropagation());
    this.element.append(this._head, this._place);
  }

  render({ session, connection }: IViewState): void {
    const search = session.search ?? null;
    const gone = connection.state === 'gone';
    const over = search === null || ['ready', 'done', 'failed'].includes(String(search['status']));
    const drawn = `${session.history.current}:${String(search?.['revision'])}:${gone}`;
    if (drawn !== this._drawn || search !== this._model.get('search')) {
      this._drawn = drawn;
      this._head.replaceChildren(
        h(
          'span',
          {},
          search === null
            ? t(
                'A search tries what is inside the outer loops of this schedule; they stay as they are.'
              )
            : t('The fastest, or any other, comes back as a branch of the history.')
        ),
        h(
          'span',
          { class: 'tvmlab-buttons' },
          search !== null &&
            button('search_take', t('Take the fastest'), gone || search['measured'] === 0),
          button('search', t('Search from here'), gone || !over)
        )
      );
    }
    this._model.show(search);
    if (search !== null && this._view === null) {
      this._view = mountSearch(this._model, this._place, trial => this._take(trial));
    }
  }

  dispose(): void {
    this._view?.dispose();
  }

  private async _take(trial: number): Promise<string> {
    const { error } = await this._ask({ type: 'search_take', trial });
    return error ?? t('Trial %1 is now a branch of the history.', trial + 1);
  }

  private readonly _ask: Ask;
  private readonly _model: SearchModel;
  private readonly _head = h('div', { class: 'tvmlab-cap' });
  private readonly _place = h('div');
  private _view: IExplorer | null = null;
  private _drawn = '';
}

/** What the live view of a search knows of its session: a part of the state, and commands in it. */
class SearchModel implements IViewModel {
  constructor(private readonly _ask: Ask) {}

  show(search: unknown): void {
    if (search !== this._search) {
      this._search = search;
      this._tell({ kind: 'state', key: 'search' });
    }
  }

  get(key: string): unknown {
    return key === 'search' ? this._search : null;
  }

  set(): void {
    // The view of a search shares nothing.
  }

  save(): void {
    // The view of a search shares nothing.
  }

  send(message: object): void {
    void this._ask({ type: 'search', message: { ...message } }).then(({ data }) => {
      if (data !== null && 'search' in data) {
        this._tell({ kind: 'message', message: data.search });
      }
    });
  }

  onChange(listener: (change: Change) => void): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  private _tell(change: Change): void {
    for (const listener of [...this._listeners]) {
      listener(change);
    }
  }

  private readonly _listeners = new Set<(change: Change) => void>();
  private _search: unknown = null;
}

function button(command: string, label: string, disabled: boolean): HTMLElement {
  return h(
    'button',
    { class: 'tvmlab-btn', type: 'button', 'data-command': command, disabled },
    label
  );
}

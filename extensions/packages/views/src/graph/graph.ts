import type { GraphRow } from '@tvmlab/schema';

import { t } from '../hostPage';
import { closestData, h } from '../dom';
import { mountExplorer } from '../explorer';
import type { IViewModel } from '../model';
import type { IExplorer } from '../notice';
import { addStyles } from '../style/styles';
import { GraphClient } from './client';
import { GraphDetails } from './details';
import { Grid } from './grid';
import { GraphHead } from './head';
import { InnerModel } from './innerModel';
import { GraphPasses } from './passes';
import { Strip } from './strip';
import { KEYS } from './words';

/** Show the compiled graph behind a model in an element. */
export function mountGraph(model: IViewModel, element: HTMLElement): IExplorer {
  addStyles(element);
  return new GraphView(model, element);
}

/** The view of a graph; the schedule of one of its kernels takes its place while it is open. */
class GraphView implements IExplorer {
  constructor(model: IViewModel, element: HTMLElement) {
    this._model = model;
    this._client = new GraphClient(model, () => this._draw());
    this._frame.append(
      this._head.element,
      this._strip.element,
      this._grid.element,
      this._details.element,
      this._passes.element,
      this._status
    );
    this._root.append(this._frame, this._inner, this._live);
    element.append(this._root);
    this._listen();
    this._draw();
  }

  dispose(): void {
    this._explorer?.dispose();
    this._client.dispose();
    this._root.remove();
  }

  focus(): void {
    this._grid.body.focus();
  }

  private _draw(): void {
    const { state } = this._client;
    if (state === null) {
      return;
    }
    this._head.show(state);
    if (state.rows !== this._rows) {
      this._rows = state.rows;
      this._strip.show(state.rows);
      this._search();
    }
    this._passes.show(state.passes);
    this._detail(this._grid.active);
    const gone = this._client.connection.state === 'gone';
    this._root.classList.toggle('tvmlab-gone', gone);
    const said = gone ? t('The kernel has gone; run the cell again.') : (state.job ?? state.note);
    if (said !== this._said.textContent) {
      this._said.textContent = said;
      this._live.textContent = said;
    }
    this._innerPin.disabled = state.job !== null;
  }

  private _search(): void {
    const found = this._grid.show(this._rows, this._head.query.value);
    const all = this._rows.length;
    this._head.found(found, all);
  }

  private _detail(row: GraphRow | null): void {
    const state = this._client.state;
    this._strip.mark(row?.id ?? null);
    this._details.show(row, {
      opened: row !== null && this._opened.has(row.kernel),
      busy: state?.job !== null
    });
    // Names of readers are known here alone.
    for (const link of this._details.element.querySelectorAll<HTMLElement>('[data-reader]')) {
      link.textContent = this._rows[Number(link.dataset['reader'])]?.name ?? link.textContent;
    }
  }

  private _listen(): void {
    this._root.addEventListener('click', event => this._click(event.target));
    this._grid.body.addEventListener('dblclick', event => {
      if (closestData(event.target, 'line') !== null) {
        void this._open();
      }
    });
    this._grid.body.addEventListener('keydown', event => this._key(event));
    this._head.query.addEventListener('input', () => this._search());
    this._head.query.addEventListener('keydown', event => {
      if (event.key === 'Escape' || event.key === 'Enter' || event.key === 'ArrowDown') {
        if (event.key === 'Escape') {
          this._head.query.value = '';
          this._search();
        }
        this.focus();
        event.preventDefault();
      }
      event.stopPropagation();
    });
  }

  private _click(target: EventTarget | null): void {
    const hit = (name: string): string | undefined => closestData(target, name)?.value;
    const [command, go, fold] = [hit('do'), hit('go') ?? hit('piece'), hit('fold')];
    const line = hit('line');
    if (command !== undefined) {
      this._do(command);
    } else if (go !== undefined) {
      this._goTo(go);
    } else if (line !== undefined && !this._inner.contains(target as Node)) {
      this._grid.go(Number(line));
      if (fold !== undefined && this._grid.fold(this._grid.isOpen(fold))) {
        this._search();
      }
      this.focus();
    }
  }

  private _goTo(row: string): void {
    if (this._head.query.value !== '') {
      this._head.query.value = '';
      this._search();
    }
    this._grid.select(row);
    this.focus();
  }

  private _key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const page = Math.max(1, Math.floor(this._grid.body.clientHeight / 26) - 1);
    const acts: Record<string, () => void> = {
      ArrowDown: () => this._grid.move(1),
      ArrowUp: () => this._grid.move(-1),
      PageDown: () => this._grid.move(page),
      PageUp: () => this._grid.move(-page),
      Home: () => this._grid.go(0),
      End: () => this._grid.move(1e9),
      ArrowRight: () => this._grid.fold(false) && this._search(),
      ArrowLeft: () => this._grid.fold(true) && this._search(),
      Enter: () => void this._open(),
      p: () => this._do('pin'),
      m: () => this._do('profile'),
      '/': () => this._head.query.focus()
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act !== undefined) {
      act();
      event.preventDefault();
      event.stopPropagation();
    }
  }

  private _do(command: string): void {
    const row = this._shown ?? this._grid.active;
    if (command === 'back') {
      this._close();
    } else if (command === 'profile') {
      void this._ask({ type: 'profile' });
    } else if (row !== null && command === 'open') {
      void this._open();
    } else if (row !== null && (command === 'pin' || command === 'unpin')) {
      void this._ask({ type: command, row: row.id });
    }
  }

  private async _ask(request: Parameters<GraphClient['request']>[0]): Promise<void> {
    const { error } = await this._client.request(request);
    if (error !== null) {
      this._said.textContent = error;
      this._live.textContent = error;
    }
  }

  /** Show the schedule of the active kernel in place of the graph. */
  private async _open(): Promise<void> {
    const row = this._grid.active;
    if (row === null) {
      return;
    }
    const { data, error } = await this._client.request({ type: 'open', row: row.id });
    if (data === null || !('session' in data)) {
      this._said.textContent = error ?? '';
      return;
    }
    this._opened.add(row.kernel);
    this._shown = row;
    this._explorer?.dispose();
    this._innerName.textContent = data.name;
    this._innerHead.append(this._said);
    this._inner.removeAttribute('hidden');
    this._frame.setAttribute('hidden', '');
    this._explorer = mountExplorer(new InnerModel(this._model, data.session), this._inner);
    this._explorer.focus();
  }

  private _close(): void {
    this._shown = null;
    this._explorer?.dispose();
    this._explorer = null;
    this._status.prepend(this._said);
    this._inner.setAttribute('hidden', '');
    this._frame.removeAttribute('hidden');
    this._draw();
    this.focus();
  }

  private readonly _model: IViewModel;
  private readonly _client: GraphClient;
  private _rows: readonly GraphRow[] = [];
  /** Kernels whose schedules were opened, so that there is something to pin. */
  private readonly _opened = new Set<string>();
  private _shown: GraphRow | null = null;
  private _explorer: IExplorer | null = null;

  private readonly _head = new GraphHead();
  private readonly _strip = new Strip();
  private readonly _details = new GraphDetails();
  private readonly _grid = new Grid(row => this._detail(row));
  private readonly _passes = new GraphPasses(name => this._client.request({ type: 'pass', name }));
  private readonly _said = h('span', { class: 'tvmlab-said' });
  private readonly _live = h('div', { class: 'tvmlab-hidden', 'aria-live': 'polite' });
  private readonly _status = h(
    'div',
    { class: 'tvmlab-stat' },
    this._said,
    h('span', { class: 'tvmlab-grow' }),
    ...KEYS.map(([key, words]) =>
      h('span', {}, h('kbd', { class: 'tvmlab-key' }, key), ` ${t(words)}`)
    )
  );
  private readonly _frame = h('div', { class: 'tvmlab-graph-frame' });
  private readonly _innerName = h('b', { class: 'tvmlab-mono' });
  private readonly _innerPin = h(
    'button',
    { type: 'button', class: 'tvmlab-btn tvmlab-pri', 'data-do': 'pin' },
    t('Pin for the model')
  );
  private readonly _innerHead = h(
    'div',
    { class: 'tvmlab-head' },
    h('button', { type: 'button', class: 'tvmlab-btn', 'data-do': 'back' }, `← ${t('Graph')}`),
    this._innerName,
    this._innerPin
  );
  private readonly _inner = h(
    'div',
    { class: 'tvmlab-graph-inner', hidden: true },
    this._innerHead
  );
  private readonly _root = h('div', { class: 'tvmlab tvmlab-explorer tvmlab-graph-view' });
}

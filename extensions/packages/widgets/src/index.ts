/** What a notebook cell loads: an anywidget module that shows one session, graph or search. */
import type { AnyModel } from '@anywidget/types';
import {
  type Change,
  type IExplorer,
  type IViewModel,
  marked,
  mountExplorer,
  mountGraph,
  mountSearch,
  t
} from '@tvmlab/views';

const LOST = marked(
  'The kernel restarted, so this session is gone. Run the cell again to get a new one.'
);

/** anywidget's model behind the five methods that a view knows. */
class WidgetModel implements IViewModel {
  constructor(model: AnyModel) {
    this._model = model;
  }

  get(key: string): unknown {
    return this._model.get(key) as unknown;
  }

  set(key: string, value: unknown): void {
    this._model.set(key, value);
  }

  save(): void {
    this._model.save_changes();
  }

  send(message: object): void {
    this._model.send(message);
  }

  onChange(listener: (change: Change) => void): () => void {
    const onState = (): void => listener({ kind: 'state', key: 'state' });
    const onGraph = (): void => listener({ kind: 'state', key: 'graph' });
    const onSearch = (): void => listener({ kind: 'state', key: 'search' });
    const onMessage = (message: unknown): void => listener({ kind: 'message', message });
    const onGone = (): void =>
      listener({ kind: 'connection', connection: { state: 'gone', reason: t(LOST) } });
    this._model.on('change:state', onState);
    this._model.on('change:graph', onGraph);
    this._model.on('change:search', onSearch);
    this._model.on('msg:custom', onMessage);
    // The widget manager says so when the kernel restarts or dies.
    this._model.on('comm_live_update', onGone);
    return () => {
      this._model.off('change:state', onState);
      this._model.off('change:graph', onGraph);
      this._model.off('change:search', onSearch);
      this._model.off('msg:custom', onMessage);
      this._model.off('comm_live_update', onGone);
    };
  }

  private readonly _model: AnyModel;
}

function render({ model, el }: { model: AnyModel; el: HTMLElement }): () => void {
  const kind = model.get('kind') as unknown;
  const mount = kind === 'graph' ? mountGraph : kind === 'search' ? mountSearch : mountExplorer;
  const explorer: IExplorer = mount(new WidgetModel(model), el);
  return () => explorer.dispose();
}

export default { render };

import type { GraphState } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h } from '../dom';
import { bytes, time } from '../format';

/** What the graph is, the search in it, and the button that measures it. */
export class GraphHead {
  readonly query = h('input', {
    type: 'search',
    class: 'tvmlab-search',
    placeholder: t('Search names, shapes…'),
    'aria-label': t('Search the graph')
  });

  show({ graph, rows, pins, job }: GraphState): void {
    const facts = [
      t('%1 nodes in %2 kernels', graph.nodes, rows.length),
      graph.seconds === null ? null : t('%1 a run', time(graph.seconds)),
      t('weights %1', bytes(graph.parameter_bytes)),
      t('between kernels %1', bytes(graph.workspace)),
      pins > 0 ? t('%1 pinned', pins) : null
    ];
    this._name.textContent = graph.name;
    this._title.title = [graph.target, ...graph.inputs, '→', ...graph.outputs].join('\n');
    this._pills.replaceChildren(
      ...facts.filter(fact => fact !== null).map(fact => h('span', { class: 'tvmlab-pill' }, fact))
    );
    this._measure.disabled = job !== null;
  }

  /** Say how many kernels a search has found. */
  found(count: number, all: number): void {
    this._count.textContent = this.query.value.trim() === '' ? '' : t('%1 of %2', count, all);
  }

  private readonly _name = h('span');
  private readonly _title = h('b', {}, `${t('Graph')} `, this._name);
  private readonly _pills = h('div', { class: 'tvmlab-pills' });
  private readonly _count = h('span', { class: 'tvmlab-dim', role: 'status' });
  private readonly _measure = h(
    'button',
    { type: 'button', class: 'tvmlab-btn tvmlab-pri', 'data-do': 'profile' },
    t('Measure'),
    h('kbd', { class: 'tvmlab-key', 'aria-hidden': 'true' }, 'M')
  );
  readonly element = h(
    'div',
    { class: 'tvmlab-head' },
    this._title,
    this._pills,
    h('span', { class: 'tvmlab-grow' }),
    h('div', { class: 'tvmlab-tools' }, this._count, this.query, this._measure)
  );
}

import type { GraphState } from '@tvmlab/schema';

import { h } from '../dom';
import { bytes, time } from '../format';

/** What the graph is, the search in it, and the button that measures it. */
export class GraphHead {
  readonly query = h('input', {
    type: 'search',
    class: 'tvmlab-search',
    placeholder: 'Search names, shapes…',
    'aria-label': 'Search the graph'
  });

  show({ graph, rows, pins, job }: GraphState): void {
    const facts = [
      `${graph.nodes} nodes in ${rows.length} kernels`,
      graph.seconds === null ? null : `${time(graph.seconds)} a run`,
      `weights ${bytes(graph.parameter_bytes)}`,
      `between kernels ${bytes(graph.workspace)}`,
      pins > 0 ? `${pins} pinned` : null
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
    this._count.textContent = this.query.value.trim() === '' ? '' : `${count} of ${all}`;
  }

  private readonly _name = h('span');
  private readonly _title = h('b', {}, 'Graph ', this._name);
  private readonly _pills = h('div', { class: 'tvmlab-pills' });
  private readonly _count = h('span', { class: 'tvmlab-dim', role: 'status' });
  private readonly _measure = h(
    'button',
    { type: 'button', class: 'tvmlab-btn tvmlab-pri', 'data-do': 'profile' },
    'Measure',
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

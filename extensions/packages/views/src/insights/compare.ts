import type { Comparison, HistoryNode } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h, uniqueId } from '../dom';
import { factor } from '../format';
import type { IInsight } from '../insights';
import { diffView } from '../parts/diff';
import type { IViewState } from '../viewState';

/** The two states that are compared: those chosen, else the current one and where it came from. */
export function comparedOf({ session, compared }: IViewState): { a: string; b: string } {
  const { nodes, current } = session.history;
  const known = (id: string | undefined): boolean => nodes.some(node => node.id === id);
  const b = compared.b !== undefined && known(compared.b) ? compared.b : current;
  const parent = nodes.find(node => node.id === b)?.parent ?? nodes[0]?.id ?? b;
  return { a: compared.a !== undefined && known(compared.a) ? compared.a : parent, b };
}

/** Two states side by side: what differs in nest and code, and which is faster. */
export const compareInsight: IInsight = {
  id: 'compare',
  label: marked('Compare'),
  ask: view => {
    const { a, b } = comparedOf(view);
    const measured = view.session.history.nodes.map(node => node.seconds ?? '').join();
    return { version: `${a}:${b}:${measured}`, command: { type: 'compare', a, b } };
  },
  inputs: ({ session, compared }) => [session.history, compared],
  draw: (view, answer) => {
    const { a, b } = comparedOf(view);
    const { nodes, current } = view.session.history;
    const report = answer?.data && 'a_label' in answer.data ? answer.data : null;
    return [
      h(
        'div',
        { class: 'tvmlab-compared' },
        stateField('a', t('This state'), nodes, a),
        stateField('b', 'against', nodes, b)
      ),
      ...(report === null
        ? [h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Comparing…'))]
        : comparison(report)),
      h(
        'div',
        { class: 'tvmlab-foot' },
        h('span', {}),
        h(
          'button',
          {
            class: 'tvmlab-btn',
            type: 'button',
            'data-pick': a,
            title: t('Take the step that led to this state again, on the current one'),
            disabled: a === '0' || onPath(nodes, current, a)
          },
          t('Pick its step for here')
        )
      )
    ];
  }
};

function onPath(nodes: readonly HistoryNode[], current: string, id: string): boolean {
  for (let at: string | null = current; at !== null;) {
    if (at === id) {
      return true;
    }
    const here: string = at;
    at = nodes.find(node => node.id === here)?.parent ?? null;
  }
  return false;
}

function stateField(
  name: string,
  label: string,
  nodes: readonly HistoryNode[],
  chosen: string
): HTMLElement {
  const id = uniqueId('state');
  return h(
    'span',
    {},
    h('label', { for: id }, label),
    h(
      'select',
      { id, 'data-set': name },
      ...nodes.map(node =>
        h(
          'option',
          { value: node.id, selected: node.id === chosen },
          `${node.id} · ${node.checkpoint ?? node.label}`
        )
      )
    )
  );
}

function comparison({
  facts,
  gain,
  shared,
  nest,
  code,
  a_label,
  b_label
}: Comparison): HTMLElement[] {
  const verdict =
    gain === null
      ? t('Not both are measured.')
      : gain.kind === 'noise'
        ? t('No difference beyond noise (%1).', factor(gain.ratio))
        : t(
            '%1 is %2 %3.',
            b_label,
            gain.kind === 'gain' ? factor(gain.ratio) : factor(1 / gain.ratio),
            gain.kind === 'gain' ? t('faster') : t('slower')
          );
  return [
    h('p', { class: 'tvmlab-why' }, t('%1 Both come from %2.', verdict, shared)),
    h(
      'table',
      { class: 'tvmlab-facts-table' },
      h(
        'thead',
        {},
        h('tr', {}, ...['', a_label, b_label].map(text => h('th', { scope: 'col' }, text)))
      ),
      h(
        'tbody',
        {},
        ...facts.map(({ label, a, b }) =>
          h(
            'tr',
            { 'data-same': String(a === b) },
            h('th', { scope: 'row' }, label),
            h('td', {}, a),
            h('td', {}, b)
          )
        )
      )
    ),
    h('h5', {}, t('Nest')),
    diffView(nest, t('Difference of the nests')),
    h('h5', {}, t('Steps')),
    diffView(code, t('Difference of the steps'))
  ];
}

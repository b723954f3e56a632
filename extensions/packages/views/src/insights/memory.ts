import type { Memory } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import type { IInsight } from '../insights';
import type { IViewState } from '../viewState';
import { choiceOf, chooser } from './choosing';
import { COLORS, KINDS, MemoryPane, TRAIL } from './memoryPane';

/** Where each access finds its data, with a scrubber over time; another state may stand beside. */
export const memoryInsight: IInsight = {
  id: 'memory',
  label: marked('Memory'),
  ask: view => {
    const { session, caches } = view;
    const beside = besideOf(view);
    return {
      version: `${session.history.current}:${caches}:${beside ?? ''}`,
      command: { type: 'memory', caches, beside }
    };
  },
  inputs: ({ caches, choices, session }) => [caches, choices, session.history],
  draw: (view, answer) => {
    const choosers = h(
      'span',
      { class: 'tvmlab-choosers' },
      chooser('caches', t('Caches'), view.caches, [
        ['tiny', t('tiny teaching cache')],
        ['machine', t('caches of this machine')]
      ]),
      chooser('memory.beside', t('Beside it'), besideOf(view) ?? '', [
        ['', t('this state alone')],
        ...view.session.history.nodes
          .filter(({ id }) => id !== view.session.history.current)
          .map(({ id, label }) => [id, t('beside %1: %2', id, label)] as const)
      ])
    );
    if (!answer?.data || !('turns' in answer.data)) {
      return [
        choosers,
        h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Running the accesses…'))
      ];
    }
    return [h('div', { class: 'tvmlab-cap' }, choosers, legend()), ...scrubber(answer.data)];
  }
};

/** The state that was chosen to stand beside this one, if it is still another one. */
function besideOf(view: IViewState): string | null {
  const { nodes, current } = view.session.history;
  const chosen = choiceOf(view, 'memory.beside');
  return nodes.some(({ id }) => id === chosen && id !== current) ? chosen : null;
}

function legend(): HTMLElement {
  return h(
    'span',
    { class: 'tvmlab-legend' },
    ...KINDS.map((kind, i) =>
      h('span', {}, h('i', { style: `background:var(${COLORS[i] ?? ''})` }), t(kind))
    )
  );
}

/** One slider for all: at each of its places each program has done the same share of its accesses. */
function scrubber(memory: Memory): HTMLElement[] {
  const panes = [memory, ...(memory.beside ? [memory.beside] : [])].map(one => new MemoryPane(one));
  const last = Math.max(...panes.map(pane => pane.last));
  const range = h('input', {
    type: 'range',
    min: 0,
    max: last,
    value: 0,
    'aria-label': t('Access')
  });
  const show = (): void => {
    const share = Number(range.value) / Math.max(last, 1);
    const words = panes.map(pane => pane.show(Math.round(share * pane.last)));
    range.setAttribute('aria-valuetext', words.join(`; ${t('beside it')} `));
  };
  range.addEventListener('input', show);
  range.value = String(Math.min(last, TRAIL));
  setTimeout(show); // once it is on the page, so that its colors are known
  return [
    h('div', { class: 'tvmlab-scrub' }, range),
    h('div', { class: 'tvmlab-memory-panes' }, ...panes.map(pane => pane.element))
  ];
}

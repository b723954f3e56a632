import type { HistoryNode } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h } from '../dom';
import { factor, time } from '../format';
import type { IViewState } from '../viewState';
import { Part } from './part';

/** Every state the session has been in, each a click away, with what it gained. */
export class History extends Part<IViewState> {
  constructor() {
    super(h('nav', { class: 'tvmlab-hist', 'aria-label': t('History') }));
  }

  protected inputs({ session, naming, connection }: IViewState): readonly unknown[] {
    return [session.history, naming, connection.state];
  }

  protected draw({ session, naming, connection }: IViewState): void {
    const { nodes, current } = session.history;
    const path = pathTo(nodes, current);
    const byId = new Map(nodes.map(node => [node.id, node]));
    const items = nodes.map((node, index) => {
      const before = nodes[index - 1];
      const fork = before !== undefined && node.parent !== before.id;
      const origin = fork && node.parent !== null ? byId.get(node.parent) : undefined;
      return h(
        'li',
        { class: fork ? 'tvmlab-fork' : '' },
        drawNode(node, node.id === current, !path.has(node.id), origin)
      );
    });
    const name = byId.get(current)?.checkpoint ?? '';
    this.element.replaceChildren(
      h('ol', { class: 'tvmlab-nodes' }, ...items),
      h('span', { class: 'tvmlab-grow' }),
      naming ? nameField(name) : nameButton(name, connection.state === 'gone')
    );
    const strip = this.element.querySelector('ol');
    const shown = strip?.querySelector<HTMLElement>('[aria-current]');
    if (strip && shown) {
      // Only this strip scrolls; scrollIntoView would also move the notebook.
      const { left, width } = shown.getBoundingClientRect();
      const middle = left + width / 2 - strip.getBoundingClientRect().left + strip.scrollLeft;
      strip.scrollLeft = middle - strip.clientWidth / 2;
    }
  }

  /** Put the cursor into the name field, once it is there. */
  focusName(): void {
    this.element.querySelector<HTMLInputElement>('input')?.focus();
  }
}

function pathTo(nodes: readonly HistoryNode[], current: string): Set<string> {
  const parents = new Map(nodes.map(node => [node.id, node.parent]));
  const path = new Set<string>();
  for (let id: string | null = current; id !== null; id = parents.get(id) ?? null) {
    path.add(id);
  }
  return path;
}

function drawNode(
  node: HistoryNode,
  current: boolean,
  aside: boolean,
  origin: HistoryNode | undefined
): HTMLElement {
  const [gain, kind] = gainText(node);
  const title = [
    node.code === '' ? t('The program as it was written') : node.code,
    node.seconds === null ? t('not measured') : t('median %1', time(node.seconds)),
    ...(origin ? [t('branches from %1', origin.checkpoint ?? origin.label)] : [])
  ].join('\n');
  return h(
    'button',
    {
      class: 'tvmlab-node',
      type: 'button',
      title,
      'data-node': node.id,
      'data-checkpoint': String(node.checkpoint !== null),
      'data-undone': String(aside),
      'aria-current': current ? 'step' : null
    },
    h('span', { class: 'tvmlab-dot', 'aria-hidden': 'true' }),
    h('b', {}, origin ? `↳ ${node.checkpoint ?? node.label}` : (node.checkpoint ?? node.label)),
    h('span', { class: 'tvmlab-gain', 'data-gain': kind }, gain)
  );
}

function gainText({ gain }: HistoryNode): [string, string] {
  if (gain === null) {
    return ['–', 'none'];
  }
  const text = factor(gain.ratio);
  switch (gain.kind) {
    case 'gain':
      return [text, 'gain'];
    case 'loss':
      return [`▼ ${text}`, 'loss'];
    case 'noise':
      return [t('%1 in noise', text), 'noise'];
  }
}

function nameButton(name: string, disabled: boolean): HTMLElement {
  const label = `◇ ${name === '' ? t('Checkpoint…') : t('Rename…')}`;
  return h(
    'button',
    { class: 'tvmlab-btn', type: 'button', 'data-command': 'name', disabled },
    label
  );
}

function nameField(name: string): HTMLElement {
  return h(
    'form',
    { class: 'tvmlab-naming' },
    h('input', {
      type: 'text',
      value: name,
      'aria-label': t('Name of this checkpoint'),
      placeholder: t('name, then Enter'),
      autocomplete: 'off'
    })
  );
}

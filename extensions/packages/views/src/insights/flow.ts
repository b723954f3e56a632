import type { Flow, FlowEdge, FlowNode } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h, s } from '../dom';
import { bytes, compact, count, percent } from '../format';
import type { IInsight } from '../insights';
import { blocksText, buffersText } from '../plurals';

const [WIDTH, HEIGHT, GAP_X, GAP_Y] = [132, 38, 16, 24];

/** Who produces what for whom: blocks and the buffers between them, from top to bottom. */
export const flowInsight: IInsight = {
  id: 'flow',
  label: marked('Flow'),
  ask: ({ session }) => ({ version: session.history.current, command: { type: 'flow' } }),
  inputs: ({ selected }) => [selected],
  draw: ({ selected }, answer) => {
    if (!answer?.data || !('edges' in answer.data)) {
      return [h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Following the data…'))];
    }
    const { nodes, updates } = answer.data;
    const blocks = nodes.filter(node => node.kind === 'block').length;
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('span', {}, t('Producers above, consumers below')),
        h(
          'span',
          { class: 'tvmlab-dim' },
          `${blocksText(blocks)}, ${buffersText(nodes.length - blocks)}`
        )
      ),
      picture(answer.data, selected),
      h('p', { class: 'tvmlab-why' }, words(nodes, updates)),
      table(answer.data)
    ];
  }
};

function words(nodes: readonly FlowNode[], updates: readonly string[]): string {
  const names = nodes.filter(({ id }) => updates.includes(id)).map(({ name }) => name);
  return names.length === 0
    ? t('Every block only writes what it makes.')
    : t(
        '%1 %2 to what was written before.',
        names.join(', '),
        names.length === 1 ? t('adds') : t('add')
      );
}

interface IPlace {
  x: number;
  y: number;
}

/** Each layer in a row; within it nodes stand near the middle of what they come from. */
function placed(nodes: readonly FlowNode[], edges: readonly FlowEdge[]): Map<string, IPlace> {
  const places = new Map<string, IPlace>();
  const layers = new Map<number, FlowNode[]>();
  for (const node of nodes) {
    layers.set(node.layer, [...(layers.get(node.layer) ?? []), node]);
  }
  [...layers.entries()]
    .sort(([a], [b]) => a - b)
    .forEach(([, members], row) => {
      const wish = (node: FlowNode): number => {
        const from = edges
          .filter(edge => edge.sink === node.id)
          .map(edge => places.get(edge.source)?.x)
          .filter(x => x !== undefined);
        return from.length === 0 ? 0 : from.reduce((sum, x) => sum + x, 0) / from.length;
      };
      let free = 0;
      for (const node of [...members].sort((a, b) => wish(a) - wish(b))) {
        const x = Math.max(free, wish(node));
        places.set(node.id, { x, y: row * (HEIGHT + GAP_Y) });
        free = x + WIDTH + GAP_X;
      }
    });
  return places;
}

function picture({ nodes, edges }: Flow, selected: string | null): HTMLElement {
  const places = placed(nodes, edges);
  const all = [...places.values()];
  const width = Math.max(...all.map(({ x }) => x)) + WIDTH + 2;
  const height = Math.max(...all.map(({ y }) => y)) + HEIGHT + 2;
  const lines = s(
    'svg',
    { width, height, 'aria-hidden': 'true' },
    ...edges.map(edge => line(edge, places))
  );
  const host = h('div', { class: 'tvmlab-flow', role: 'group', 'aria-label': t('Flow of data') });
  host.style.width = `${width}px`;
  host.style.height = `${height}px`;
  host.append(lines, ...nodes.map(node => box(node, places.get(node.id), selected)));
  return h('div', { class: 'tvmlab-flow-box' }, host);
}

function line(edge: FlowEdge, places: ReadonlyMap<string, IPlace>): SVGElement | null {
  const from = places.get(edge.source);
  const to = places.get(edge.sink);
  if (!from || !to) {
    return null;
  }
  const [x1, y1, x2, y2] = [from.x + WIDTH / 2, from.y + HEIGHT, to.x + WIDTH / 2, to.y];
  const bend = (y2 - y1) / 2;
  return s('path', {
    d: `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`
  });
}

function box(node: FlowNode, place: IPlace | undefined, selected: string | null): HTMLElement {
  const button = h(
    'button',
    {
      type: 'button',
      class: 'tvmlab-flow-node',
      'data-kind': node.kind,
      'data-row': node.row,
      disabled: node.row === null,
      'aria-pressed': String(node.row !== null && node.row === selected),
      'aria-label': `${node.kind} ${node.name}, ${detail(node)}`
    },
    h('b', {}, node.name),
    h('small', {}, detail(node))
  );
  button.style.left = `${place?.x ?? 0}px`;
  button.style.top = `${place?.y ?? 0}px`;
  return button;
}

function detail(node: FlowNode): string {
  if (node.kind === 'block') {
    const runs = node.runs === null ? t('runs ? times') : t('runs %1×', compact(node.runs));
    return node.share === null ? runs : `${percent(node.share)} · ${runs}`;
  }
  const size = node.bytes === null ? t('size at run time') : bytes(node.bytes);
  return `${node.kind === 'intermediate' ? node.scope : node.kind} · ${size}`;
}

/** The edges as a table: what the picture cannot say in words. */
function table({ nodes, edges }: Flow): HTMLElement {
  const name = (id: string): string => nodes.find(node => node.id === id)?.name ?? id;
  return h(
    'details',
    {},
    h('summary', {}, t('How often each element is used')),
    h(
      'table',
      { class: 'tvmlab-facts-table' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...[t('from'), t('to'), t('accesses'), t('elements'), t('each')].map(text =>
            h('th', { scope: 'col' }, text)
          )
        )
      ),
      h(
        'tbody',
        {},
        ...edges.map(({ source, sink, touches, elements }) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, name(source)),
            h('td', {}, name(sink)),
            h('td', {}, touches === null ? '?' : count(touches)),
            h('td', {}, elements === null ? '?' : count(elements)),
            h('td', {}, touches === null || !elements ? '?' : `${(touches / elements).toFixed(1)}×`)
          )
        )
      )
    )
  );
}

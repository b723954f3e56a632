import type { Axis, Iterations } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h, s } from '../dom';
import { count } from '../format';
import type { IInsight } from '../insights';
import { choiceOf, chooser } from './choosing';

const [ROOM, LEFT, TOP] = [224, 40, 20];
const KINDS = {
  flow: marked('needs'),
  anti: marked('must come after'),
  output: marked('overwrites')
};

/** The iterations of a block as points in the order in which they run, with what they need. */
export const iterationsInsight: IInsight = {
  id: 'iterations',
  label: marked('Iterations'),
  ask: view => {
    const row = view.selected ?? view.session.rows.find(({ type }) => type === 'block')?.id;
    if (row === undefined) {
      return null;
    }
    const x = choiceOf(view, 'iterations.x');
    const y = choiceOf(view, 'iterations.y');
    const part = choiceOf(view, 'iterations.part') === 'end' ? 'end' : 'start';
    return {
      version: [view.session.history.current, row, x, y, part].join(),
      command: { type: 'iterations', row, x, y, part }
    };
  },
  inputs: ({ choices }) => [choices],
  draw: (view, answer) => {
    if (!answer?.data || !('xs' in answer.data)) {
      // A choice of another block's variable may be what was wrong: offer to start again.
      const again = h(
        'button',
        { class: 'tvmlab-btn', type: 'button', 'data-reset': 'iterations' },
        t('Choose the axes anew')
      );
      const why = h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Running the iterations…'));
      return answer?.error ? [why, again] : [why];
    }
    const found = answer.data;
    const part = choiceOf(view, 'iterations.part') ?? 'start';
    const variables = found.variables.map(name => [name, name] as const);
    const long = [found.x, found.y].some(({ first, count, extent }) => first > 0 || count < extent);
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h(
          'span',
          { class: 'tvmlab-choosers' },
          h('b', {}, found.block),
          chooser('iterations.x', t('Across'), found.x.name, variables),
          chooser('iterations.y', t('Down'), found.y.name, variables),
          long &&
            chooser('iterations.part', t('Part'), part, [
              ['start', t('first values')],
              ['end', t('last values')]
            ])
        ),
        h('span', { class: 'tvmlab-dim' }, found.still)
      ),
      ...scrubbed(found)
    ];
  }
};

function scrubbed(found: Iterations): HTMLElement[] {
  const { xs, ys, runs } = found;
  const cell = Math.max(5, Math.min(22, Math.floor(ROOM / Math.max(found.x.count, found.y.count))));
  const x = (value: number): number => LEFT + (value - found.x.first) * cell;
  const y = (value: number): number => TOP + (value - found.y.first) * cell;
  const last = xs.length - 1;
  const points = xs.map((value, at) => point(x(value), y(ys[at] ?? 0), cell, runs[at] ?? false));
  const arrows = s('g', { class: 'tvmlab-arrows' });
  const drawing = s(
    'svg',
    {
      width: x(found.x.first + found.x.count) + 14,
      height: y(found.y.first + found.y.count) + 6,
      role: 'img',
      'aria-label': t(
        '%1 iterations of %2 in the order in which they run',
        count(runs.filter(Boolean).length),
        found.block
      )
    },
    ...labels(found, x, y),
    ...points,
    ...edges(
      found.x,
      x,
      (a, b) => ({ x1: a, x2: a, y1: TOP, y2: b }),
      y(found.y.first + found.y.count)
    ),
    ...edges(
      found.y,
      y,
      (a, b) => ({ y1: a, y2: a, x1: LEFT, x2: b }),
      x(found.x.first + found.x.count)
    ),
    arrows
  );
  const words = h('output', { class: 'tvmlab-why' });
  const range = h('input', { type: 'range', min: 0, max: last, 'aria-label': t('Iteration') });
  let shown = -1;
  const show = (): void => {
    const at = Number(range.value);
    for (let n = Math.min(shown, at) + 1; n <= Math.max(shown, at); n += 1) {
      points[n]?.classList.toggle('tvmlab-done', n <= at);
    }
    points[shown]?.classList.remove('tvmlab-current');
    points[at]?.classList.add('tvmlab-current');
    shown = at;
    arrows.replaceChildren(
      ...needs(found, at).map(([dx, dy, kind]) =>
        arrow(
          [x((xs[at] ?? 0) - dx), y((ys[at] ?? 0) - dy)],
          [x(xs[at] ?? 0), y(ys[at] ?? 0)],
          cell,
          kind
        )
      )
    );
    words.textContent = textAt(found, at);
    range.setAttribute('aria-valuetext', words.textContent);
  };
  range.addEventListener('input', show);
  range.value = String(Math.min(last, found.x.count + 2));
  show();
  return [
    h('div', { class: 'tvmlab-scrub' }, range),
    words,
    h('div', { class: 'tvmlab-iterations' }, host(drawing), needsList(found))
  ];
}

function host(drawing: SVGElement): HTMLElement {
  const box = h('div', { class: 'tvmlab-plane' });
  box.append(drawing);
  return box;
}

function point(x: number, y: number, cell: number, runs: boolean): SVGElement {
  const size = cell - 2;
  return s('rect', {
    class: runs ? 'tvmlab-iteration' : 'tvmlab-iteration tvmlab-empty',
    x: x + 1,
    y: y + 1,
    width: size,
    height: size,
    rx: Math.min(3, size / 3)
  });
}

/** Lines between tiles, thicker for larger ones, and where the domain ends. */
function edges(
  axis: Axis,
  at: (value: number) => number,
  line: (place: number, end: number) => Record<string, number>,
  end: number
): SVGElement[] {
  const found: SVGElement[] = [];
  axis.tiles.forEach((tile, level) => {
    const first = Math.ceil((axis.first + 1) / tile) * tile;
    for (let value = first; value < axis.first + axis.count; value += tile) {
      found.push(
        s('line', {
          class: `tvmlab-tile tvmlab-tile-${Math.min(level, 1)}`,
          ...line(at(value), end)
        })
      );
    }
  });
  if (axis.extent > axis.first && axis.extent < axis.first + axis.count) {
    found.push(s('line', { class: 'tvmlab-domain-end', ...line(at(axis.extent), end) }));
  }
  return found;
}

function labels(
  found: Iterations,
  x: (value: number) => number,
  y: (value: number) => number
): SVGElement[] {
  const ticks = ({ first, count: size }: Axis): number[] => [first, first + size - 1];
  const half = (x(found.x.first + 1) - x(found.x.first)) / 2;
  return [
    s(
      'text',
      { x: x(found.x.first + found.x.count / 2), y: 10, 'text-anchor': 'middle' },
      `${found.x.name} →`
    ),
    s(
      'text',
      { 'text-anchor': 'end', transform: `translate(10 ${TOP}) rotate(-90)` },
      `← ${found.y.name}`
    ),
    ...ticks(found.x).map(value =>
      s(
        'text',
        { x: x(value) + half, y: 16, 'text-anchor': 'middle', class: 'tvmlab-tick' },
        String(value)
      )
    ),
    ...ticks(found.y).map(value =>
      s(
        'text',
        { x: LEFT - 4, y: y(value) + half + 4, 'text-anchor': 'end', class: 'tvmlab-tick' },
        String(value)
      )
    )
  ];
}

/** The distances to what an iteration depends on, as far as that is in the picture. */
function needs(
  { xs, ys, runs, dependences }: Iterations,
  at: number
): (readonly [number, number, string])[] {
  if (!runs[at]) {
    return [];
  }
  const here = new Set(xs.slice(0, at).map((value, n) => `${value},${ys[n] ?? 0}`));
  const distances = new Map<string, readonly [number, number, string]>();
  for (const { dx, dy, kind } of dependences) {
    const source = `${(xs[at] ?? 0) - dx},${(ys[at] ?? 0) - dy}`;
    if ((dx !== 0 || dy !== 0) && here.has(source) && !distances.has(source)) {
      distances.set(source, [dx, dy, kind]);
    }
  }
  return [...distances.values()];
}

function arrow(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
  cell: number,
  kind: string
): SVGElement {
  const [ax, ay, bx, by] = [x1 + cell / 2, y1 + cell / 2, x2 + cell / 2, y2 + cell / 2];
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
  const wing = (sign: number): string =>
    `${(bx - 5 * ux - sign * 3 * uy).toFixed(1)} ${(by - 5 * uy + sign * 3 * ux).toFixed(1)}`;
  return s('path', {
    class: `tvmlab-need-${kind}`,
    d: `M${ax} ${ay} L${bx} ${by} M${wing(1)} L${bx} ${by} L${wing(-1)}`
  });
}

function textAt(found: Iterations, at: number): string {
  const place = `${found.y.name}=${found.ys[at] ?? 0}, ${found.x.name}=${found.xs[at] ?? 0}`;
  const told = found.runs[at]
    ? place
    : t('%1 lies beyond the domain: the tile has room there, but nothing runs', place);
  return t('%1 of %2: %3', count(at + 1), count(found.xs.length), told);
}

function needsList({ dependences, x, y }: Iterations): HTMLElement {
  if (dependences.length === 0) {
    return h(
      'p',
      { class: 'tvmlab-why' },
      t('No two of these iterations need each other: any order will do.')
    );
  }
  return h(
    'ul',
    { class: 'tvmlab-needs', 'aria-label': t('Dependences') },
    ...dependences.map(({ kind, buffer, dx, dy, pairs, words }) =>
      h(
        'li',
        { 'data-need': kind },
        h(
          'b',
          {},
          t(
            '%1: %2 the one at distance %3 %4, %5 %6',
            buffer,
            t(KINDS[kind]),
            y.name,
            signed(dy),
            x.name,
            signed(dx)
          )
        ),
        h('span', { class: 'tvmlab-dim' }, ` ${t('%1 pairs, such as %2', count(pairs), words)}`)
      )
    )
  );
}

function signed(distance: number): string {
  return distance === 0 ? '0' : distance > 0 ? `−${distance}` : `+${-distance}`;
}

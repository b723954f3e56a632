import type { GraphLanes } from '@tvmlab/schema';

import { s } from '../dom';

export const ROW_HEIGHT = 26;
const STEP = 11;
const MOST = 12;

/** How wide the lanes of a graph are drawn; lanes beyond the most are drawn as one. */
export function lanesWidth(rows: readonly { lanes: GraphLanes }[]): number {
  const most = rows.reduce(
    (found, { lanes }) => Math.max(found, lanes.column, ...lanes.through),
    0
  );
  return (Math.min(most, MOST) + 1) * STEP + 8;
}

function x(lane: number): number {
  return 8 + Math.min(lane, MOST) * STEP;
}

/** Values that flow past a kernel, and into it: straight lines, and one bend for each read. */
export function drawLanes({ column, into, through, out }: GraphLanes, width: number): SVGElement {
  const middle = ROW_HEIGHT / 2;
  const lines = through.map(lane => `M${x(lane)} 0V${ROW_HEIGHT}`);
  for (const lane of into) {
    lines.push(
      lane === column
        ? `M${x(lane)} 0V${middle}`
        : `M${x(lane)} 0C${x(lane)} ${middle} ${x(column)} 2 ${x(column)} ${middle}`
    );
  }
  if (out) {
    lines.push(`M${x(column)} ${middle}V${ROW_HEIGHT}`);
  }
  return s(
    'svg',
    { class: 'tvmlab-lanes', width, height: ROW_HEIGHT, 'aria-hidden': 'true' },
    s('path', { d: lines.join('') }),
    s('circle', { cx: x(column), cy: middle, r: 3.5 })
  );
}

/** Values that flow past a line of their own: only straight lines. */
export function drawPassing(lanes: readonly number[], width: number): SVGElement {
  return s(
    'svg',
    { class: 'tvmlab-lanes', width, height: ROW_HEIGHT, 'aria-hidden': 'true' },
    s('path', { d: lanes.map(lane => `M${x(lane)} 0V${ROW_HEIGHT}`).join('') })
  );
}

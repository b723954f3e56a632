import type { Ceiling, Roofline } from '@tvmlab/schema';

import { h, s } from '../dom';
import { digits } from '../format';
import type { IInsight } from '../insights';

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [340, 236, 44, 332, 10, 200];

/** The machine's measured ceilings, and the trail of the measured states under them. */
export const rooflineInsight: IInsight = {
  id: 'roofline',
  label: 'Roofline',
  ask: ({ session }) => {
    const measured = session.history.nodes.map(node => node.seconds ?? '').join();
    return {
      version: `${session.history.current}:${measured}:${Boolean(session.job)}`,
      command: { type: 'roofline' }
    };
  },
  inputs: ({ session, connection }) => [session.job, connection.state],
  draw: ({ session, connection }, answer) => {
    if (!answer?.data || !('compute' in answer.data)) {
      return [h('p', { class: 'tvmlab-why' }, answer?.error ?? 'Looking at the machine…')];
    }
    const { machine, points, unmeasured } = answer.data;
    const idle = !session.job && connection.state !== 'gone';
    const action = (command: string, label: string): HTMLElement =>
      h(
        'button',
        { class: 'tvmlab-btn', type: 'button', 'data-command': command, disabled: !idle },
        label
      );
    if (machine === '') {
      return [
        h('p', { class: 'tvmlab-why' }, 'The ceilings of this machine are not measured yet.'),
        h(
          'div',
          { class: 'tvmlab-foot' },
          h('span'),
          action('measure_machine', 'Measure this machine')
        )
      ];
    }
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('span', {}, `Roofline of ${machine}`),
        h('span', { class: 'tvmlab-dim' }, 'ceilings measured, bytes estimated')
      ),
      chart(answer.data),
      h(
        'p',
        { class: 'tvmlab-why' },
        points.length === 0 ? 'No state of this path is measured yet.' : lastWords(answer.data)
      ),
      h(
        'div',
        { class: 'tvmlab-foot' },
        h('span', {}, unmeasured === 0 ? '' : `${unmeasured} states of the path are not measured.`),
        action('measure_gains', 'Measure all steps')
      )
    ];
  }
};

/** Where the newest point stands, and what limits it. */
function lastWords({ points, compute, memory }: Roofline): string {
  const last = points.at(-1);
  const [peak] = compute;
  const slowest = memory.at(-1);
  if (!last || !peak) {
    return '';
  }
  const roof = Math.min(peak.rate, (slowest?.rate ?? Infinity) * last.intensity);
  const what = roof < peak.rate ? `bandwidth of ${slowest?.label ?? 'memory'}` : 'arithmetic';
  return (
    `${last.label}: ${digits(last.gflops)} GFLOP/s at ${digits(last.intensity)} operations a byte, ` +
    `${Math.round((100 * last.gflops) / roof)} % of what ${what} allows.`
  );
}

function chart({ compute, memory, points }: Roofline): HTMLElement {
  const peak = compute[0]?.rate ?? 1;
  const xs = points.map(point => point.intensity);
  const ys = points.map(point => point.gflops);
  const ridge = peak / (memory.at(-1)?.rate ?? 1);
  const [x0, x1] = [Math.min(0.125, ...xs) / 1.5, Math.max(ridge * 4, ...xs) * 1.5];
  const [y0, y1] = [Math.min(peak / 200, ...ys) / 1.5, peak * 1.8];
  const scale = (value: number, low: number, high: number): number =>
    (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low));
  const x = (value: number): number => LEFT + (RIGHT - LEFT) * scale(value, x0, x1);
  const y = (value: number): number => BOTTOM - (BOTTOM - TOP) * scale(value, y0, y1);
  const trail = points.map(
    ({ intensity, gflops }) => `${x(intensity).toFixed(1)},${y(gflops).toFixed(1)}`
  );
  const drawing = s(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': `Roofline with ${points.length} measured states`
    },
    s('line', { class: 'tvmlab-axis', x1: LEFT, y1: BOTTOM, x2: RIGHT, y2: BOTTOM }),
    s('line', { class: 'tvmlab-axis', x1: LEFT, y1: TOP, x2: LEFT, y2: BOTTOM }),
    ...decades(x0, x1).map(tick =>
      s('text', { x: x(tick), y: BOTTOM + 14, 'text-anchor': 'middle' }, String(tick))
    ),
    ...decades(y0, y1).map(tick =>
      s('text', { x: LEFT - 5, y: y(tick) + 4, 'text-anchor': 'end' }, String(tick))
    ),
    s(
      'text',
      { x: (LEFT + RIGHT) / 2, y: HEIGHT - 6, 'text-anchor': 'middle' },
      'operations for each byte from memory'
    ),
    ...compute.map(({ label, rate }, index) => flat(label, rate, index, { x, y })),
    ...memory.map((roof, index) => slope(roof, index, peak, [x0, y0], { x, y })),
    points.length > 1 && s('polyline', { class: 'tvmlab-trail', points: trail.join(' ') }),
    ...points.map(({ node, label, intensity, gflops, current }) =>
      s(
        'circle',
        {
          class: current ? 'tvmlab-point tvmlab-now' : 'tvmlab-point tvmlab-opens',
          'data-node': node,
          cx: x(intensity).toFixed(1),
          cy: y(gflops).toFixed(1),
          r: current ? 5.5 : 4
        },
        s('title', {}, `${label}: ${digits(gflops)} GFLOP/s`)
      )
    )
  );
  const host = h('div', { class: 'tvmlab-chart' });
  host.append(drawing);
  return host;
}

interface IScales {
  x: (value: number) => number;
  y: (value: number) => number;
}

function flat(label: string, rate: number, index: number, { y }: IScales): SVGElement {
  return s(
    'g',
    { class: index === 0 ? 'tvmlab-roof' : 'tvmlab-roof tvmlab-lower' },
    s('line', { x1: LEFT, y1: y(rate), x2: RIGHT, y2: y(rate) }),
    s('text', { x: RIGHT, y: y(rate) - 3, 'text-anchor': 'end' }, `${label} ${digits(rate)}`)
  );
}

/** A bandwidth; the words of neighbours stand at different places along their lines. */
function slope(
  { label, rate }: Ceiling,
  index: number,
  peak: number,
  [x0, y0]: readonly [number, number],
  { x, y }: IScales
): SVGElement {
  const start = Math.max(x0, y0 / rate);
  const end = peak / rate;
  const at = index % 2 === 0 ? 0.7 : 0.3;
  const middle = start ** (1 - at) * Math.max(end, start) ** at;
  return s(
    'g',
    { class: 'tvmlab-roof' },
    s('line', { x1: x(start), y1: y(start * rate), x2: x(end), y2: y(peak) }),
    s(
      'text',
      {
        x: x(middle),
        y: y(middle * rate) - 3,
        transform: `rotate(${tilt(x(start), y(start * rate), x(end), y(peak)).toFixed(1)} ${x(middle).toFixed(1)} ${(y(middle * rate) - 3).toFixed(1)})`,
        'text-anchor': 'middle'
      },
      `${label} ${digits(rate)} GB/s`
    )
  );
}

function tilt(x1: number, y1: number, x2: number, y2: number): number {
  return (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
}

function decades(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low));
  const last = Math.floor(Math.log10(high));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(`1e${first + i}`));
}

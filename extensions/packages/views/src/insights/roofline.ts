import type { Ceiling, Roofline, RoofPoint } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h, s } from '../dom';
import { digits, rate } from '../format';
import type { IInsight } from '../insights';
import { choiceOf, chooser } from './choosing';

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [340, 236, 44, 332, 10, 200];

/** The machine's measured ceilings, and the trail of the measured states under them. */
export const rooflineInsight: IInsight = {
  id: 'roofline',
  label: marked('Roofline'),
  ask: ({ session }) => {
    const measured = session.history.nodes.map(node => node.seconds ?? '').join();
    return {
      version: `${session.history.current}:${measured}:${Boolean(session.job)}`,
      command: { type: 'roofline' }
    };
  },
  inputs: ({ session, connection, choices }) => [session.job, connection.state, choices],
  draw: (view, answer) => {
    const { session, connection } = view;
    if (!answer?.data || !('compute' in answer.data)) {
      return [h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Looking at the machine…'))];
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
        h('p', { class: 'tvmlab-why' }, t('The ceilings of this machine are not measured yet.')),
        h(
          'div',
          { class: 'tvmlab-foot' },
          h('span'),
          action('measure_machine', t('Measure this machine'))
        )
      ];
    }
    const levels = levelsOf(answer.data);
    const wanted = choiceOf(view, 'roofline.level');
    const level = wanted !== null && [...levels, EVERY].includes(wanted) ? wanted : MEMORY;
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('span', {}, t('Roofline of %1', machine)),
        chooser('roofline.level', t('Bytes that count'), level, [
          ...levels.map(name => [name, t('bytes from %1', name)] as const),
          [EVERY, t('bytes from every level')]
        ])
      ),
      chart(answer.data, level === EVERY ? levels : [level]),
      h(
        'p',
        { class: 'tvmlab-why' },
        points.length === 0
          ? t('No state of this path is measured yet.')
          : t(
              '%1 Ceilings are measured, bytes are estimated.',
              (level === EVERY ? levels : [level])
                .map(name => lastWords(answer.data as Roofline, name))
                .join(' ')
            )
      ),
      h(
        'div',
        { class: 'tvmlab-foot' },
        h(
          'span',
          {},
          unmeasured === 0 ? '' : t('%1 states of the path are not measured.', unmeasured)
        ),
        action('measure_gains', t('Measure all steps'))
      )
    ];
  }
};

const MEMORY = 'memory';
const EVERY = 'every';
/** The form of a level's points: nobody has to tell colors apart. */
const FORMS = ['circle', 'square', 'triangle', 'diamond'] as const;
const SIGNS = { circle: '●', square: '■', triangle: '▲', diamond: '◆' } as const;
/** Per cent of a ceiling that noise in measuring it explains. */
const MOST_SHARE = 105;
/** Where along its line a bandwidth has its name. */
const NAME_PLACES = [0.85, 0.6, 0.35, 0.45];

/** The levels that hand out bytes, nearest first. */
function levelsOf({ points }: Roofline): string[] {
  return points[0]?.levels.map(({ level }) => level) ?? [MEMORY];
}

function intensityAt({ levels, intensity }: RoofPoint, level: string): number {
  return levels.find(known => known.level === level)?.intensity ?? intensity;
}

/** Where the newest point stands, and what limits it. */
function lastWords({ points, compute, memory }: Roofline, level: string): string {
  const last = points.at(-1);
  const [peak] = compute;
  const own = memory.find(({ label }) => label === level);
  if (!last || !peak) {
    return '';
  }
  const intensity = intensityAt(last, level);
  const roof = Math.min(peak.rate, (own?.rate ?? Infinity) * intensity);
  const what = roof < peak.rate ? t('bandwidth of %1', level) : t('arithmetic');
  const share = Math.round((100 * last.gflops) / roof);
  const words = t(
    '%1: %2 at %3 operations a byte from %4, %5 % of what %6 allows.',
    last.label,
    rate(last.gflops),
    digits(intensity),
    level,
    share,
    what
  );
  return share <= MOST_SHARE
    ? words
    : `${words} ${t('More than a ceiling is a sign that the machine was busy when that was measured.')}`;
}

function chart(found: Roofline, levels: readonly string[]): HTMLElement {
  const { compute, memory, points } = found;
  const peak = compute[0]?.rate ?? 1;
  const xs = levels.flatMap(level => points.map(point => intensityAt(point, level)));
  const ys = points.map(point => point.gflops);
  const ridge = peak / (memory.at(-1)?.rate ?? 1);
  const [x0, x1] = [Math.min(0.125, ...xs) / 1.5, Math.max(ridge * 4, ...xs) * 1.5];
  const [y0, y1] = [Math.min(peak / 200, ...ys) / 1.5, peak * 1.8];
  const scale = (value: number, low: number, high: number): number =>
    (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low));
  const x = (value: number): number => LEFT + (RIGHT - LEFT) * scale(value, x0, x1);
  const y = (value: number): number => BOTTOM - (BOTTOM - TOP) * scale(value, y0, y1);
  const drawing = s(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': t('Roofline with %1 measured states', points.length)
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
      levels.length === 1
        ? t('operations for each byte from %1', levels[0] ?? '')
        : t('operations for each byte')
    ),
    ...compute.map(({ rate }, index) => flat(rate, index, { x, y })),
    ...memory.map((roof, index) => slope(roof, index, peak, [x0, y0], { x, y })),
    ...levels.flatMap((level, index) =>
      trailOf(points, level, levels.length > 1 ? index : 0, { x, y })
    )
  );
  const host = h('div', { class: 'tvmlab-chart' });
  host.append(drawing, ceilings(found));
  if (levels.length > 1) {
    host.append(
      h(
        'p',
        { class: 'tvmlab-why' },
        levels
          .map((level, index) => `${SIGNS[FORMS[index % FORMS.length] ?? 'circle']} ${level}`)
          .join(' · ')
      )
    );
  }
  return host;
}

/** The states in order for the bytes of one level, each level in a form of its own. */
function trailOf(
  points: readonly RoofPoint[],
  level: string,
  form: number,
  { x, y }: IScales
): SVGElement[] {
  const places = points.map(point => [x(intensityAt(point, level)), y(point.gflops)] as const);
  const line = places.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ');
  return [
    ...(points.length > 1 ? [s('polyline', { class: 'tvmlab-trail', points: line })] : []),
    ...points.map(({ node, label, gflops, current, ...point }, index) => {
      const [px, py] = places[index] ?? [0, 0];
      const words = t(
        '%1, %2: %3 at %4 operations a byte',
        label,
        level,
        rate(gflops),
        digits(intensityAt({ node, label, gflops, current, ...point }, level))
      );
      return s(
        'path',
        {
          class: current ? 'tvmlab-point tvmlab-now' : 'tvmlab-point tvmlab-opens',
          'data-node': node,
          d: formAt(form, px, py, current ? 5.5 : 4)
        },
        s('title', {}, words)
      );
    })
  ];
}

function formAt(form: number, x: number, y: number, r: number): string {
  const corner = (dx: number, dy: number): string =>
    `${(x + dx * r).toFixed(1)} ${(y + dy * r).toFixed(1)}`;
  switch (FORMS[form % FORMS.length]) {
    case 'square':
      return `M${corner(-0.9, -0.9)}L${corner(0.9, -0.9)}L${corner(0.9, 0.9)}L${corner(-0.9, 0.9)}Z`;
    case 'triangle':
      return `M${corner(0, -1.1)}L${corner(1.1, 0.9)}L${corner(-1.1, 0.9)}Z`;
    case 'diamond':
      return `M${corner(0, -1.2)}L${corner(1.2, 0)}L${corner(0, 1.2)}L${corner(-1.2, 0)}Z`;
    default:
      return `M${corner(-1, 0)}A${r} ${r} 0 1 0 ${corner(1, 0)}A${r} ${r} 0 1 0 ${corner(-1, 0)}Z`;
  }
}

interface IScales {
  x: (value: number) => number;
  y: (value: number) => number;
}

function flat(rate: number, index: number, { y }: IScales): SVGElement {
  return s(
    'g',
    { class: index === 0 ? 'tvmlab-roof' : 'tvmlab-roof tvmlab-lower' },
    s('line', { x1: LEFT, y1: y(rate), x2: RIGHT, y2: y(rate) })
  );
}

/** A bandwidth; the names of neighbors stand at different places along their lines. */
function slope(
  { label, rate }: Ceiling,
  index: number,
  peak: number,
  [x0, y0]: readonly [number, number],
  { x, y }: IScales
): SVGElement {
  const start = Math.max(x0, y0 / rate);
  const end = Math.max(peak / rate, start);
  const at = NAME_PLACES[index % NAME_PLACES.length] ?? 0.5;
  const place = start ** (1 - at) * end ** at;
  return s(
    'g',
    { class: 'tvmlab-roof' },
    s('line', { x1: x(start), y1: y(start * rate), x2: x(end), y2: y(peak) }),
    s('text', { x: x(place), y: y(place * rate) + 4, 'text-anchor': 'middle' }, label)
  );
}

/** What the lines of the chart stand for; in it, figures would lie over one another. */
function ceilings({ compute, memory }: Roofline): HTMLElement {
  const flats = compute.map(({ label, rate: top }, index) =>
    index === 0 ? `${label} ${rate(top)}` : t('%1 (dashed) %2', label, rate(top))
  );
  const slopes = memory.map(({ label, rate: top }) => `${label} ${digits(top)}`);
  return h(
    'p',
    { class: 'tvmlab-why' },
    t('Ceilings of arithmetic: %1; of bytes, in GB/s: %2.', flats.join(', '), slopes.join(', '))
  );
}

function decades(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low));
  const last = Math.floor(Math.log10(high));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(`1e${first + i}`));
}

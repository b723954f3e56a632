import { t } from '../hostPage';
import { s } from '../dom';
import { BOTTOM, HEIGHT, LEFT, RIGHT, TOP } from './frame';
import { type IScale, tickText } from './scale';
import type { PlotWindow } from './window';

/** The axes of predicted against measured, and the line on which both agree. */
export function axes(x: IScale, y: IScale, seen: PlotWindow, unit: string): SVGElement[] {
  const low = Math.max(seen.x[0], seen.y[0]);
  const high = Math.min(seen.x[1], seen.y[1]);
  const agree = { x1: x.at(low), y1: y.at(low), x2: x.at(high), y2: y.at(high) };
  return [
    s('line', { class: 'tvmlab-axis', x1: LEFT, y1: BOTTOM, x2: RIGHT, y2: BOTTOM }),
    s('line', { class: 'tvmlab-axis', x1: LEFT, y1: TOP, x2: LEFT, y2: BOTTOM }),
    ...(low < high ? [s('line', { class: 'tvmlab-identity', ...agree })] : []),
    s(
      'text',
      { x: (LEFT + RIGHT) / 2, y: HEIGHT - 6, 'text-anchor': 'middle' },
      t('measured %1', unit)
    ),
    s(
      'text',
      {
        x: 10,
        y: (TOP + BOTTOM) / 2,
        'text-anchor': 'middle',
        transform: `rotate(-90 10 ${(TOP + BOTTOM) / 2})`
      },
      t('predicted %1', unit)
    ),
    ...x.ticks.flatMap(tick => [
      line(x.at(tick), BOTTOM, x.at(tick), BOTTOM + 4),
      s('text', { x: x.at(tick), y: BOTTOM + 15, 'text-anchor': 'middle' }, tickText(tick))
    ]),
    ...y.ticks.flatMap(tick => [
      line(LEFT - 4, y.at(tick), LEFT, y.at(tick)),
      s('text', { x: LEFT - 7, y: y.at(tick) + 3.5, 'text-anchor': 'end' }, tickText(tick))
    ])
  ];
}

function line(x1: number, y1: number, x2: number, y2: number): SVGElement {
  return s('line', { class: 'tvmlab-axis', x1, y1, x2, y2 });
}

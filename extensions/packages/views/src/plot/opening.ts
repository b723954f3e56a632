import type { Plot, Point } from '@tvmlab/schema';

import type { Request } from '../client';
import type { Controller } from '../controller';
import { readersUnit } from '../format';
import type { IScatterData } from './scatter';

/** The command that opens a point's schedule: its state in the history, or a new branch. */
function openingOf({ node, id }: Point): Request | null {
  if (node !== null) {
    return { type: 'goto', node };
  }
  return id === undefined ? null : { type: 'load', point: id };
}

/** The points as the plot shows them, in the reader's unit. */
export function plotted({ points, unit, rank_correlation, message }: Plot): IScatterData {
  const [shown, scale] = readersUnit(unit);
  return {
    points: points.map(point => ({
      ...point,
      measured: point.measured / scale,
      predicted: point.predicted / scale,
      opens: openingOf(point) !== null
    })),
    unit: shown,
    correlation: rank_correlation,
    message: message ?? null
  };
}

/** Open the schedule behind a point of the plot. */
export function openPoint(controller: Controller, index: number): void {
  const point = controller.view?.session.plot.points[index];
  const request = point ? openingOf(point) : null;
  if (request !== null) {
    void controller.command(request);
  }
}

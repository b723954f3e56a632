import { h } from '../dom';
import { BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH } from './frame';
import type { IScale } from './scale';

/** How many pixels of the canvas there are for one of the drawing. */
const FINE = 2;
const SIDE = 3;

/** Thousands of points on a canvas: too many to be elements, and none is needed as one. */
export class PointField {
  readonly element = h('canvas', {
    class: 'tvmlab-field-canvas',
    width: WIDTH * FINE,
    height: HEIGHT * FINE,
    'aria-hidden': 'true'
  });

  draw(
    points: readonly { measured: number; predicted: number; current: boolean }[],
    x: IScale,
    y: IScale
  ): void {
    this.element.toggleAttribute('hidden', points.length === 0);
    const context = points.length > 0 ? this.element.getContext('2d') : null;
    if (context === null) {
      return;
    }
    context.setTransform(FINE, 0, 0, FINE, 0, 0);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    context.globalAlpha = 0.6;
    context.fillStyle = getComputedStyle(this.element).color;
    for (const { measured, predicted } of points) {
      const [px, py] = [x.at(measured), y.at(predicted)];
      if (px >= LEFT && px <= RIGHT && py >= TOP && py <= BOTTOM) {
        context.fillRect(Math.round(px) - 1, Math.round(py) - 1, SIDE, SIDE); // whole pixels are quick
      }
    }
    context.globalAlpha = 1;
    const current = points.find(point => point.current);
    if (current) {
      context.beginPath();
      context.arc(x.at(current.measured), y.at(current.predicted), 5.5, 0, 2 * Math.PI);
      context.lineWidth = 2.2;
      context.strokeStyle = getComputedStyle(this.element).outlineColor;
      context.stroke();
    }
  }
}

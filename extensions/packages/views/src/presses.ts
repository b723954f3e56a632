import { treeOf } from './dom';
import { selectorOf } from './focus';

/**
 * Lets a press be a click although what was pressed is drawn anew before the button comes up.
 *
 * A browser makes a click of a press only if the element is still there. News of the session may
 * come in between, and a line or an action is then another element of the same name.
 */
export class Presses {
  constructor(root: HTMLElement) {
    this._root = root;
    root.addEventListener('pointerdown', event => this._down(event), true);
    root.addEventListener('pointerup', event => this._up(event), true);
  }

  private _down({ target, button }: PointerEvent): void {
    this._pressed = null;
    let element = button === 0 && target instanceof Element ? target : null;
    for (; element !== null && element !== this._root; element = element.parentElement) {
      const selector = element instanceof HTMLElement ? selectorOf(element) : null;
      if (selector !== null) {
        this._pressed = { element, selector };
        return;
      }
    }
  }

  private _up({ clientX, clientY }: PointerEvent): void {
    const pressed = this._pressed;
    this._pressed = null;
    if (pressed !== null && !pressed.element.isConnected) {
      const under = treeOf(this._root).elementFromPoint(clientX, clientY);
      under?.closest<HTMLElement>(pressed.selector)?.click();
    }
  }

  private readonly _root: HTMLElement;
  private _pressed: { element: Element; selector: string } | null = null;
}

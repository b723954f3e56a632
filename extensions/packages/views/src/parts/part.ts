/** How often everything had to be drawn anew, whatever it shows. */
let redraws = 0;

/** Let every part draw itself once more: how things are shown has changed. */
export function redrawParts(): void {
  redraws += 1;
}

/**
 * A part of the view that draws itself only when what it shows has changed.
 *
 * `inputs` names everything that the drawing depends on; values are compared by identity, which
 * is exact because states are replaced, never edited.
 */
export abstract class Part<T> {
  constructor(readonly element: HTMLElement) {}

  render(view: T): void {
    const inputs = [redraws, ...this.inputs(view)];
    const same =
      this._last?.length === inputs.length && inputs.every((input, i) => input === this._last?.[i]);
    if (!same) {
      this._last = inputs;
      this.draw(view);
    }
  }

  protected abstract inputs(view: T): readonly unknown[];

  protected abstract draw(view: T): void;

  private _last: readonly unknown[] | null = null;
}

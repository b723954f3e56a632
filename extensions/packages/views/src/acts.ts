/**
 * What changes the schedule, done one after another.
 *
 * A fast hand presses the next key or button before the session has answered the last; what was
 * begun then waits its turn, so that it meets the lines that the step before it has left.
 */
export class Acts {
  /** Hears when everything that was begun is done. */
  onRest: () => void = () => undefined;

  get busy(): boolean {
    return this._begun > 0;
  }

  /** Do something when all before it is done: at once, if nothing is. */
  async do<T>(work: () => Promise<T>): Promise<T> {
    const { _epoch: epoch, _last: before } = this;
    const turn = this._begun === 0 ? work() : before.then(work);
    this._begun += 1;
    this._last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      if (epoch === this._epoch) {
        this._begun -= 1;
        if (this._begun === 0) {
          this.onRest();
        }
      }
    }
  }

  /** The session has gone: what waits for it will never be done. */
  forget(): void {
    if (this._begun > 0) {
      this._epoch += 1;
      this._begun = 0;
      this._last = Promise.resolve();
      this.onRest();
    }
  }

  private _begun = 0;
  private _epoch = 0;
  private _last: Promise<unknown> = Promise.resolve();
}

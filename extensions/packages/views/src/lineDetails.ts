import type { Details, ReplyMessage } from '@tvmlab/schema';

import type { Request } from './client';
import type { IViewState } from './viewState';

/** What asking about lines needs of the controller. */
export interface ILineAsker {
  view(): IViewState | null;
  request(command: Request): Promise<ReplyMessage>;
  show(details: Details | null): void;
}

/** What lines are and what can be done with them, asked of the session. */
export class LineDetails {
  constructor(private readonly _asker: ILineAsker) {}

  /** Ask about the selected line: one question at a time, and the newest selection next. */
  fetch(): Promise<Details | null> {
    this._asking ??= this._askSelected().finally(() => (this._asking = null));
    return this._asking;
  }

  /** What can be done with a line, whether or not it is still the selected one. */
  async of(row: string): Promise<Details | null> {
    const known = this._asker.view()?.details ?? (await this.fetch());
    return known?.row === row ? known : this._ask(row);
  }

  private async _askSelected(): Promise<Details | null> {
    for (;;) {
      const asked = this._asker.view();
      if (!asked || asked.selected === null) {
        return null;
      }
      const details = await this._ask(asked.selected);
      const now = this._asker.view();
      if (now?.selected === asked.selected && now.session.rows === asked.session.rows) {
        this._asker.show(details);
        return details;
      }
    }
  }

  private async _ask(row: string): Promise<Details | null> {
    const { data } = await this._asker.request({ type: 'actions', row });
    return data !== null && 'actions' in data ? data : null;
  }

  private _asking: Promise<Details | null> | null = null;
}

import type { ReplyMessage } from '@tvmlab/schema';

import type { Request } from './client';

/** What was answered, and of which state of the session; the data is null while it is awaited. */
export interface IAnswer {
  version: string;
  data: ReplyMessage['data'];
  error: string | null;
}

export type Known = ReadonlyMap<string, IAnswer>;

/** What asking needs of the controller. */
export interface IAsker {
  request(command: Request): Promise<ReplyMessage>;
  show(known: Known): void;
}

/**
 * Answers that cost the session something: asked for when they are looked at, and once for each
 * version of what they are about. The old answer stays until the new one is there.
 */
export class Answers {
  constructor(asker: IAsker) {
    this._asker = asker;
  }

  ask(key: string, version: string, command: Request): void {
    if (this._asked.get(key) === version) {
      return;
    }
    this._asked.set(key, version);
    void this._asker.request(command).then(({ data, error }) => {
      if (this._asked.get(key) === version) {
        this._known = new Map(this._known).set(key, { version, data, error });
        this._asker.show(this._known);
      }
    });
  }

  /** Let everything be asked anew when it is looked at. */
  forget(): void {
    this._asked.clear();
  }

  private readonly _asker: IAsker;
  private readonly _asked = new Map<string, string>();
  private _known: Known = new Map();
}

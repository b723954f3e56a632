import type { SourceKind } from '@tvmlab/schema';

import type { Request } from './client';
import { insightOf } from './insights';
import type { IViewState } from './viewState';

/** A question to the session, and the version of what it is about. */
export interface IQuestion {
  key: string;
  version: string;
  command: Request;
}

/** What must be asked for the tabs that are open. */
export function questionsOf(view: IViewState): IQuestion[] {
  const { tab, session } = view;
  const version = session.history.current;
  const code: IQuestion =
    tab === 'passes'
      ? { key: 'passes', version, command: { type: 'passes' } }
      : {
          key: `source:${tab}`,
          version,
          command: { type: 'source', kind: tab satisfies SourceKind }
        };
  const insight = insightOf(view);
  const asked = insight.ask?.(view);
  return asked ? [code, { key: insight.id, ...asked }] : [code];
}

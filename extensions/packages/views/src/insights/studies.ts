import type { StudyCommand } from '@tvmlab/schema';

import { t } from '../hostPage';
import type { Request } from '../client';
import { h } from '../dom';
import type { IViewState } from '../viewState';

type Study = StudyCommand['what'];

/** A study is asked for again with each state, and when work in the background begins or ends. */
export function studyQuestion(
  { session }: IViewState,
  command: Request
): { version: string; command: Request } {
  const busy = session.job?.kind === 'study';
  return { version: `${session.history.current}:${busy}`, command };
}

/** The button that begins a study, or ends it while it runs. */
export function studyButton(view: IViewState, what: Study, label: string): HTMLElement {
  const { session, connection } = view;
  const running = session.job?.kind === 'study';
  return h(
    'button',
    {
      class: 'tvmlab-btn',
      type: 'button',
      'data-command': running ? 'cancel' : `study:${what}`,
      disabled: connection.state === 'gone' || (Boolean(session.job) && !running)
    },
    running ? `■ ${t('Stop')}` : label
  );
}

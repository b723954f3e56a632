import type { IStatusBar } from '@jupyterlab/statusbar';
import { Widget } from '@lumino/widgets';

import type { SessionView } from './sessionView';

/** What the panel's session does in the background, in the status bar; nothing while it rests. */
export function addStatus(statusBar: IStatusBar | null, panel: SessionView): void {
  if (statusBar === null) {
    return;
  }
  const item = new Widget();
  item.addClass('tvmlab-StatusItem');
  item.node.setAttribute('role', 'status');
  const show = (): void => {
    const job = panel.state?.job ?? null;
    item.node.textContent =
      job === null
        ? ''
        : `◷ ${panel.state?.session.name ?? ''}: ${job.title} ${job.done}/${job.total}`;
  };
  panel.stateChanged.connect(show);
  statusBar.registerStatusItem('tvmlab:measuring', {
    item,
    align: 'middle',
    isActive: () => (panel.state?.job ?? null) !== null,
    activeStateChanged: panel.stateChanged
  });
}

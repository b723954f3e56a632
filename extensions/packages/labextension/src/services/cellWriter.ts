import { NotebookActions, type INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

/** The first words of a cell that the explorer has written. */
const MARK = '# tvmlab: steps of the explorer';
const EVENT = 'tvmlab:write-cell';

interface IRequest {
  session: string;
  code: string;
}

/**
 * Let explorers write their steps into the notebook around them: into the cell that has them
 * already, else into a new one below. It is an edit like any other, so the notebook can undo it.
 */
export function listenForCells(tracker: INotebookTracker): () => void {
  const listener = (event: Event): void => {
    const { session, code } = (event as CustomEvent<IRequest>).detail;
    const { target } = event;
    const panel =
      target instanceof Node
        ? (tracker.find(candidate => candidate.node.contains(target)) ?? tracker.currentWidget)
        : tracker.currentWidget;
    if (panel !== null && writeCell(panel, session, code, target)) {
      event.preventDefault();
    }
  };
  document.addEventListener(EVENT, listener);
  return () => document.removeEventListener(EVENT, listener);
}

function writeCell(
  panel: NotebookPanel,
  session: string,
  code: string,
  target: EventTarget | null
): boolean {
  const { content } = panel;
  const mark = `${MARK} ${session},`;
  const written = content.widgets.findIndex(cell =>
    cell.model.sharedModel.getSource().startsWith(mark)
  );
  if (written >= 0) {
    content.activeCellIndex = written;
    content.widgets[written]?.model.sharedModel.setSource(code);
    return true;
  }
  const around = content.widgets.findIndex(
    cell => target instanceof Node && cell.node.contains(target)
  );
  content.activeCellIndex = around >= 0 ? around : content.activeCellIndex;
  NotebookActions.insertBelow(content);
  content.activeCell?.model.sharedModel.setSource(code);
  return content.activeCell !== null;
}

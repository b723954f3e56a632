import { isField, keyName } from './keys';

/** Keys that mean something in every view, whatever has the focus there. */
const OWN =
  /^(Arrow(Up|Down|Left|Right)|Home|End|Shift\+Arrow(Up|Down)|Ctrl\+(Shift\+)?z|Ctrl\+y|Ctrl\+Shift\+p)$/;

/**
 * Keeps a host that listens first from taking the keys of a view for its own shortcuts.
 *
 * Jupyter Notebook 7 hears keys on their way down: M would make a cell text, V paste one, and
 * Ctrl Z undo a change of cells, before the view hears of them. A key of the view is marked as
 * taken before that; such keys hosts leave alone. Call the result to stop.
 */
export function ownShortcuts(root: HTMLElement): () => void {
  const mark = (event: KeyboardEvent): void => {
    const [target] = event.composedPath();
    if (!event.isTrusted || !(target instanceof Node) || !root.contains(target)) {
      return;
    }
    const plain = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    const typed = plain && event.key !== ' ';
    const entered =
      event.key === 'Enter' && target instanceof Element && target.matches('[role=tree]');
    if (!isField(target) && (typed || entered || OWN.test(keyName(event)))) {
      event.preventDefault();
    }
  };
  window.addEventListener('keydown', mark, true);
  return () => window.removeEventListener('keydown', mark, true);
}

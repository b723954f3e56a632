import type { IViewModel } from './model';
import { type IExplorer, mountNotice } from './notice';

/** Show the session behind a model in an element. */
export function mountExplorer(model: IViewModel, element: HTMLElement): IExplorer {
  return mountNotice(element, 'Session', JSON.stringify(model.get('state')));
}

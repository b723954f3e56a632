import { h } from './dom';
import { addStyles } from './style/styles';

/** Something that stands in an element until it is disposed. */
export interface IExplorer {
  dispose(): void;
  /** Put the keyboard into the view. */
  focus(): void;
}

/** A calm sentence where a view would be, saying what to do to get one. */
export function mountNotice(element: HTMLElement, title: string, text: string): IExplorer {
  addStyles(element);
  const root = h(
    'div',
    { class: 'tvmlab tvmlab-notice', role: 'status', tabindex: 0 },
    h('b', {}, title),
    h('p', {}, text)
  );
  element.append(root);
  return {
    dispose: () => root.remove(),
    focus: () => root.focus()
  };
}

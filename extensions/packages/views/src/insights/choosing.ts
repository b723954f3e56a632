import { t } from '../hostPage';
import { h } from '../dom';
import type { IViewState } from '../viewState';

/** What was chosen in a tab under a name such as `iterations.x`; null if nothing was. */
export function choiceOf(view: IViewState, name: string): string | null {
  return view.choices[name] ?? null;
}

/** Options whose texts were marked for translators, in the reader's language. */
export function translated<Value extends string>(
  options: readonly (readonly [Value, string])[]
): (readonly [Value, string])[] {
  return options.map(([option, text]) => [option, t(text)]);
}

/** A list to choose from, kept in the view's choices. */
export function chooser(
  name: string,
  label: string,
  value: string,
  options: readonly (readonly [string, string])[]
): HTMLElement {
  return h(
    'select',
    { 'data-set': name, 'aria-label': label },
    ...options.map(([option, text]) =>
      h('option', { value: option, selected: option === value }, text)
    )
  );
}

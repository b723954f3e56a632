/**
 * What the page around a view gives to all views on it: what the reader prefers, and the reader's
 * language. The JupyterLab extension publishes it; the bundle of a notebook cell, which is another
 * program on the same page, finds it here. Pages without it have defaults and English.
 */
interface IHostPage {
  preferences: unknown;
  translate: ((text: string, ...values: readonly string[]) => string) | null;
}

const PLACE = Symbol.for('tvmlab.page');
const CHANGED = 'tvmlab:preferences';

function page(): IHostPage {
  const shared = globalThis as unknown as Record<symbol, IHostPage | undefined>;
  return (shared[PLACE] ??= { preferences: null, translate: null });
}

/** What was published on this page; unchecked, since another version may have done it. */
export function published(): unknown {
  return page().preferences;
}

/** Let every view on the page know what the reader prefers now. */
export function publishPreferences(preferences: object): void {
  page().preferences = preferences;
  document.dispatchEvent(new Event(CHANGED));
}

/** Let every view on the page speak the reader's language. */
export function publishTranslation(translate: NonNullable<IHostPage['translate']>): void {
  page().translate = translate;
}

/** Hear when preferences change; call the result to stop. */
export function onPublished(listener: () => void): () => void {
  document.addEventListener(CHANGED, listener);
  return () => document.removeEventListener(CHANGED, listener);
}

/**
 * A text in the reader's language. Values take the places `%1`, `%2` of the text.
 *
 * Every text given here as a literal goes into the template for translators.
 */
export function t(text: string, ...values: readonly (string | number)[]): string {
  const words = values.map(String);
  return page().translate?.(text, ...words) ?? filled(text, words);
}

/** Marks a text for translators that is translated where it is shown. */
export const marked = (text: string): string => text;

function filled(text: string, values: readonly string[]): string {
  return text.replace(/%(\d)/g, (place, digit) => values[Number(digit) - 1] ?? place);
}

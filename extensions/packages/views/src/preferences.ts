import type { IViewModel } from './model';
import { published } from './hostPage';

/** What readers can choose for all their views; each first value is what holds without a choice. */
export const CHOICES = {
  codeTheme: ['host', 'plain', 'light', 'dark', 'contrast'],
  letterKeys: [true, false],
  autoMeasure: [false, true],
  time: ['auto', 's', 'ms', 'µs', 'ns'],
  rate: ['GFLOP/s', 'MFLOP/s', 'TFLOP/s'],
  bytes: ['binary', 'decimal']
} as const;

type Choices = typeof CHOICES;
export type IPreferences = { [K in keyof Choices]: Choices[K][number] };

const NAMES = Object.keys(CHOICES) as (keyof Choices)[];

/** The choices in what anybody gave; what is none of them is left out. */
function chosenIn(given: unknown): Partial<IPreferences> {
  const found = Object(given) as Record<string, unknown>;
  return Object.fromEntries(
    NAMES.filter(name => (CHOICES[name] as readonly unknown[]).includes(found[name])).map(name => [
      name,
      found[name]
    ])
  );
}

/** What holds for a view: what it was given itself, then the page's, then what is usual. */
export function preferencesOf(model: IViewModel): IPreferences {
  const usual = Object.fromEntries(NAMES.map(name => [name, CHOICES[name][0]]));
  return {
    ...usual,
    ...chosenIn(published()),
    ...chosenIn(model.get('preferences'))
  } as IPreferences;
}

/** Put on the element of a view what its styles go by. */
export function dress(root: HTMLElement, { codeTheme, letterKeys }: IPreferences): void {
  root.dataset['codeTheme'] = codeTheme;
  root.classList.toggle('tvmlab-no-letters', !letterKeys);
}

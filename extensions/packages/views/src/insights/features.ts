import { t } from '../hostPage';
import { h } from '../dom';

/** How to read what the model sees of a program. */
export function featureNote(): HTMLElement {
  return h(
    'p',
    { class: 'tvmlab-why' },
    t(
      '“main” is the block with the most work, “other1” the next. Counts and sizes stand as powers of two: 3.7 is about 12.'
    )
  );
}

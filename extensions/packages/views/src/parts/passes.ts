import type { PassReport } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h } from '../dom';
import { digits } from '../format';
import type { IViewState } from '../viewState';
import { diffView } from './diff';
import { Part } from './part';

/** What each pass of lowering did: those that changed nothing are small, the others open. */
export class Passes extends Part<IViewState> {
  constructor() {
    super(
      h('div', {
        class: 'tvmlab-passes',
        role: 'tabpanel',
        'aria-label': t('Passes'),
        hidden: true
      })
    );
  }

  protected inputs({ tab, answers }: IViewState): readonly unknown[] {
    return [tab === 'passes', answers.get('passes')];
  }

  protected draw({ tab, answers }: IViewState): void {
    this.element.toggleAttribute('hidden', tab !== 'passes');
    const answer = answers.get('passes');
    if (!answer?.data || !('passes' in answer.data)) {
      this.element.replaceChildren(
        h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Lowering…'))
      );
      return;
    }
    const { passes } = answer.data;
    const changed = passes.filter(pass => pass.changed).length;
    this.element.replaceChildren(
      h(
        'p',
        { class: 'tvmlab-why' },
        t('%1 of %2 passes changed the program.', changed, passes.length)
      ),
      ...passes.map(passItem)
    );
  }
}

function passItem(pass: PassReport): HTMLElement {
  const { name, reason, changed, added, removed, milliseconds, diff } = pass;
  const title = [
    h('b', { class: 'tvmlab-mono' }, name),
    h(
      'span',
      { class: 'tvmlab-mono' },
      changed ? `+${added} −${removed}` : '·',
      h('span', { class: 'tvmlab-hidden' }, changed ? ` ${t('lines')}` : ` ${t('no change')}`)
    ),
    h('span', { class: 'tvmlab-dim' }, t('%1 ms', digits(milliseconds))),
    h('span', { class: 'tvmlab-what' }, reason)
  ];
  if (!changed) {
    return h('div', { class: 'tvmlab-pass' }, ...title);
  }
  const details = h(
    'details',
    { class: 'tvmlab-pass', 'data-changed': 'true' },
    h('summary', {}, ...title)
  );
  // The text is made only for those who look.
  details.addEventListener(
    'toggle',
    () => details.append(diffView(diff, t('What %1 changed', name))),
    {
      once: true
    }
  );
  return details;
}

import { t } from '../hostPage';
import { h } from '../dom';
import type { IViewState } from '../viewState';
import { Part } from './part';

/** One line above all when the session cannot answer: why, and how to get back. */
export class Banner extends Part<IViewState> {
  constructor() {
    super(h('div', { class: 'tvmlab-note', role: 'status' }));
  }

  protected inputs({ connection }: IViewState): readonly unknown[] {
    return [connection];
  }

  protected draw({ connection }: IViewState): void {
    switch (connection.state) {
      case 'busy':
        this.element.replaceChildren(
          h(
            'div',
            {},
            h('b', {}, `◷ ${t('Kernel busy')}`),
            h('span', {}, t('The answer comes when the running cell ends.'))
          )
        );
        break;
      case 'gone':
        this.element.replaceChildren(
          h(
            'div',
            { class: 'tvmlab-bad' },
            h('b', {}, `⊘ ${t('Session gone')}`),
            h('span', {}, connection.reason)
          )
        );
        break;
      default:
        this.element.replaceChildren();
    }
  }
}

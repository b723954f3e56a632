import { t } from '../hostPage';
import { h, uniqueId } from '../dom';
import { INSIGHTS, insightOf, shownInsights } from '../insights';
import type { IViewState } from '../viewState';
import { Part } from './part';

/** Tabs of what there is to know of a schedule beyond its nest: the model, gains, comparisons… */
export class Insights extends Part<IViewState> {
  /** Some tabs are elements that live on while others are looked at. */
  constructor(kept: Readonly<Record<string, HTMLElement>>) {
    super(h('section', { class: 'tvmlab-insights', 'aria-label': t('Insights') }));
    this._kept = kept;
    this._list.append(
      ...INSIGHTS.map(({ id, label }) =>
        h(
          'button',
          {
            class: 'tvmlab-tab',
            type: 'button',
            role: 'tab',
            id: `${this._id}-${id}`,
            'data-insight': id,
            'aria-controls': this._id
          },
          t(label)
        )
      )
    );
    this.element.append(this._list, this._panel);
  }

  protected inputs(view: IViewState): readonly unknown[] {
    const insight = insightOf(view);
    return [insight, insight.ask && view.answers.get(insight.id), ...insight.inputs(view)];
  }

  protected draw(view: IViewState): void {
    const insight = insightOf(view);
    for (const button of this._list.querySelectorAll('[data-insight]')) {
      const name = button.getAttribute('data-insight');
      const on = name === insight.id;
      button.toggleAttribute('hidden', !shownInsights(view).some(({ id }) => id === name));
      button.setAttribute('aria-selected', String(on));
      button.setAttribute('tabindex', on ? '0' : '-1');
    }
    const kept = this._kept[insight.id];
    this._panel.setAttribute('aria-labelledby', `${this._id}-${insight.id}`);
    this._panel.replaceChildren(
      ...(kept ? [kept] : insight.draw(view, view.answers.get(insight.id)))
    );
  }

  private readonly _id = uniqueId('insights');
  private readonly _kept: Readonly<Record<string, HTMLElement>>;
  private readonly _list = h('div', {
    class: 'tvmlab-tabs',
    role: 'tablist',
    'aria-label': t('Insights')
  });
  private readonly _panel = h('div', { class: 'tvmlab-insight', role: 'tabpanel', id: this._id });
}

import { h, uniqueId } from '../dom';
import { type IInsight, INSIGHTS } from '../insights';
import type { IViewState } from '../viewState';
import { Part } from './part';

/** Tabs of what there is to know of a schedule beyond its nest: the model, gains, comparisons… */
export class Insights extends Part<IViewState> {
  constructor(model: HTMLElement) {
    super(h('section', { class: 'tvmlab-insights', 'aria-label': 'Insights' }));
    this._model = model;
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
          label
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
      const on = button.getAttribute('data-insight') === insight.id;
      button.setAttribute('aria-selected', String(on));
      button.setAttribute('tabindex', on ? '0' : '-1');
    }
    this._panel.setAttribute('aria-labelledby', `${this._id}-${insight.id}`);
    this._panel.replaceChildren(
      ...(insight.id === 'model' ? [this._model] : insight.draw(view, view.answers.get(insight.id)))
    );
  }

  private readonly _id = uniqueId('insights');
  private readonly _model: HTMLElement;
  private readonly _list = h('div', {
    class: 'tvmlab-tabs',
    role: 'tablist',
    'aria-label': 'Insights'
  });
  private readonly _panel = h('div', { class: 'tvmlab-insight', role: 'tabpanel', id: this._id });
}

export function insightOf({ insight }: IViewState): IInsight {
  return INSIGHTS.find(({ id }) => id === insight) ?? (INSIGHTS[0] as IInsight);
}

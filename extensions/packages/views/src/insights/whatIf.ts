import { marked, t } from '../hostPage';
import { h } from '../dom';
import type { IInsight } from '../insights';
import { diffView } from '../parts/diff';
import type { IViewState } from '../viewState';
import { factsTable } from './tables';

const NAME = 'what-if.';

/** The same steps at other sizes, beside what is. */
export const whatIfInsight: IInsight = {
  id: 'what-if',
  label: marked('What if'),
  ask: view => {
    const sizes = wantedOf(view);
    return {
      version: `${view.session.history.current}:${JSON.stringify(sizes)}`,
      command: { type: 'what_if', sizes }
    };
  },
  inputs: ({ choices }) => [choices],
  draw: (view, answer) => {
    const again = h(
      'button',
      { class: 'tvmlab-btn', type: 'button', 'data-reset': 'what-if' },
      t('The sizes as they are')
    );
    if (!answer?.data || !('wanted' in answer.data)) {
      const why = h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Trying the sizes…'));
      return answer?.error && Object.keys(wantedOf(view)).length > 0 ? [why, again] : [why];
    }
    const { sizes, wanted, taken, steps, refused, facts, nest } = answer.data;
    const changed = sizes.some(({ value }, i) => value !== wanted[i]);
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h(
          'span',
          { class: 'tvmlab-choosers' },
          t('If'),
          ...sizes.map(({ name, about }, i) =>
            h(
              'label',
              { title: about },
              `${name} = `,
              h('input', {
                type: 'number',
                class: 'tvmlab-size',
                min: 1,
                value: wanted[i] ?? 1,
                'data-set': `${NAME}${name}`,
                'aria-label': t('Size %1, %2', name, about)
              })
            )
          )
        ),
        changed && again
      ),
      h('p', { class: 'tvmlab-why' }, told(taken, steps, refused, changed)),
      factsTable(
        ['', t('now'), t('then')],
        facts.map(({ label, now, then }) => [label, now, then]),
        t('What the sizes change')
      ),
      ...(changed ? [h('h5', {}, t('Nest')), diffView(nest, t('What changes in the nest'))] : [])
    ];
  }
};

function wantedOf({ choices }: IViewState): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, value] of Object.entries(choices)) {
    const size = Number(value);
    if (name.startsWith(NAME) && Number.isInteger(size) && size > 0) {
      found[name.slice(NAME.length)] = size;
    }
  }
  return found;
}

function told(taken: number, steps: number, refused: string, changed: boolean): string {
  if (!changed) {
    return t('Change a size to see what becomes of the steps; nothing here touches the schedule.');
  }
  const all = steps === 1 ? t('The one step works') : t('All %1 steps work', steps);
  return refused === ''
    ? t('%1 at these sizes.', all)
    : t('%1 of %2 steps work at these sizes. Then: %3', taken, steps, refused);
}

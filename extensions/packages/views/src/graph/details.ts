import type { GraphRow, GraphValue } from '@tvmlab/schema';

import { t } from '../hostPage';
import { type Child, h } from '../dom';
import { bytes, count, digits, percent, rate, time } from '../format';
import { KINDS } from './words';

/** What is known of one kernel, and what can be done with it. */
export class GraphDetails {
  readonly element = h('div', {
    class: 'tvmlab-side',
    role: 'region',
    'aria-label': t('Selected kernel')
  });

  show(row: GraphRow | null, { opened, busy }: { opened: boolean; busy: boolean }): void {
    if (row === null) {
      this.element.replaceChildren(h('p', { class: 'tvmlab-why' }, t('No kernel is selected.')));
      return;
    }
    const [letter, words] = KINDS[row.kind];
    const parts: Child[] = [
      h(
        'h4',
        {},
        h('b', { class: 'tvmlab-kind', 'data-class': row.kind, 'aria-hidden': 'true' }, letter),
        row.name
      ),
      h('p', { class: 'tvmlab-why' }, `${t(words)}; ${row.fused}.`),
      row.ends !== '' &&
        h('p', { class: 'tvmlab-why' }, h('b', {}, `${t('Nothing more joins:')} `), `${row.ends}.`),
      h(
        'div',
        { class: 'tvmlab-buttons' },
        button('open', t('Open schedule'), 'Enter', { main: true }),
        button('pin', t('Pin for the model'), 'P', { disabled: !opened || busy }),
        row.schedule === 'pinned' && button('unpin', t('Back to default'), '', { disabled: busy })
      ),
      !opened &&
        h(
          'p',
          { class: 'tvmlab-why' },
          t('Open its schedule and change it; the model can then be built with your schedule.')
        ),
      times(row),
      values(t('Reads'), row.inputs),
      values(t('Writes'), row.outputs),
      readers(row)
    ];
    this.element.replaceChildren(h('div', {}, ...parts));
  }
}

function button(
  command: string,
  text: string,
  key: string,
  { main = false, disabled = false }: { main?: boolean; disabled?: boolean }
): HTMLElement {
  return h(
    'button',
    {
      class: main ? 'tvmlab-btn tvmlab-pri' : 'tvmlab-btn',
      type: 'button',
      'data-do': command,
      disabled
    },
    text,
    key !== '' && h('kbd', { class: 'tvmlab-key', 'aria-hidden': 'true' }, key)
  );
}

function times(row: GraphRow): Child {
  const { time: found } = row;
  const facts: [string, string][] = [];
  if (found !== null) {
    const changed =
      found.before === null
        ? ''
        : `, ${t('was %1 before the schedule changed', time(found.before))}`;
    facts.push(
      [t('time'), t('%1, %2 of a run%3', time(found.seconds), percent(found.share), changed)],
      [t('speed'), t('%1, %2 GB/s', rate(found.gflops), digits(found.gbps))]
    );
    if (found.of_roof !== null) {
      facts.push([t('of the limit'), t('%1 of what this machine allows', percent(found.of_roof))]);
    }
  }
  facts.push(
    [t('work'), row.flops > 0 ? t('%1 operations', count(row.flops)) : t('not counted')],
    [t('data'), bytes(row.nbytes)],
    [t('schedule'), row.schedule],
    [t('symbol'), row.kernel]
  );
  return h(
    'dl',
    { class: 'tvmlab-facts' },
    ...facts.flatMap(([name, text]) => [h('dt', {}, name), h('dd', {}, text)])
  );
}

function values(title: string, found: readonly GraphValue[]): Child {
  return h(
    'div',
    { class: 'tvmlab-values' },
    h('h5', {}, title),
    h(
      'ul',
      {},
      ...found.map(({ name, type, role, row }) =>
        h(
          'li',
          {},
          row === ''
            ? h('span', { class: 'tvmlab-mono' }, name)
            : h('button', { type: 'button', class: 'tvmlab-link', 'data-go': row }, name),
          h('span', { class: 'tvmlab-mono tvmlab-dim' }, ` ${type}`),
          role !== 'value' && h('span', { class: 'tvmlab-pill' }, role)
        )
      )
    )
  );
}

function readers(row: GraphRow): Child {
  return row.readers.length === 0
    ? null
    : h(
        'div',
        { class: 'tvmlab-values' },
        h('h5', {}, t('Read by')),
        h(
          'p',
          {},
          ...row.readers.map(id =>
            h(
              'button',
              { type: 'button', class: 'tvmlab-link', 'data-go': id, 'data-reader': id },
              t('kernel %1', Number(id) + 1)
            )
          )
        )
      );
}

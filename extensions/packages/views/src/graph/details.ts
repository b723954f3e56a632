import type { GraphRow, GraphValue } from '@tvmlab/schema';

import { type Child, h } from '../dom';
import { bytes, count, digits, percent, rate, time } from '../format';
import { KINDS } from './words';

/** What is known of one kernel, and what can be done with it. */
export class GraphDetails {
  readonly element = h('div', {
    class: 'tvmlab-side',
    role: 'region',
    'aria-label': 'Selected kernel'
  });

  show(row: GraphRow | null, { opened, busy }: { opened: boolean; busy: boolean }): void {
    if (row === null) {
      this.element.replaceChildren(h('p', { class: 'tvmlab-why' }, 'No kernel is selected.'));
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
      h('p', { class: 'tvmlab-why' }, `${words}; ${row.fused}.`),
      row.ends !== '' &&
        h('p', { class: 'tvmlab-why' }, h('b', {}, 'Nothing more joins: '), `${row.ends}.`),
      h(
        'div',
        { class: 'tvmlab-buttons' },
        button('open', 'Open schedule', 'Enter', { main: true }),
        button('pin', 'Pin for the model', 'P', { disabled: !opened || busy }),
        row.schedule === 'pinned' && button('unpin', 'Back to default', '', { disabled: busy })
      ),
      !opened &&
        h(
          'p',
          { class: 'tvmlab-why' },
          'Open its schedule and change it; the model can then be built with your schedule.'
        ),
      times(row),
      values('Reads', row.inputs),
      values('Writes', row.outputs),
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
      found.before === null ? '' : `, was ${time(found.before)} before the schedule changed`;
    facts.push(
      ['time', `${time(found.seconds)}, ${percent(found.share)} of a run${changed}`],
      ['speed', `${rate(found.gflops)}, ${digits(found.gbps)} GB/s`]
    );
    if (found.of_roof !== null) {
      facts.push(['of the limit', `${percent(found.of_roof)} of what this machine allows`]);
    }
  }
  facts.push(
    ['work', row.flops > 0 ? `${count(row.flops)} operations` : 'not counted'],
    ['data', bytes(row.nbytes)],
    ['schedule', row.schedule],
    ['symbol', row.kernel]
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
        h('h5', {}, 'Read by'),
        h(
          'p',
          {},
          ...row.readers.map(id =>
            h(
              'button',
              { type: 'button', class: 'tvmlab-link', 'data-go': id, 'data-reader': id },
              `kernel ${Number(id) + 1}`
            )
          )
        )
      );
}

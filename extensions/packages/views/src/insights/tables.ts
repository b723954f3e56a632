import { h } from '../dom';

/** A table whose first column names its rows. */
export function factsTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  name: string
): HTMLElement {
  return h(
    'table',
    { class: 'tvmlab-facts-table', 'aria-label': name },
    h('thead', {}, h('tr', {}, ...head.map(text => h('th', { scope: 'col' }, text)))),
    h(
      'tbody',
      {},
      ...rows.map(([label = '', ...cells]) =>
        h(
          'tr',
          { 'data-same': String(cells.length > 1 && cells.every(cell => cell === cells[0])) },
          h('th', { scope: 'row' }, label),
          ...cells.map(cell => h('td', {}, cell))
        )
      )
    )
  );
}

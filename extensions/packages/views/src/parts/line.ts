import type { Row } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { bytes, count, percent } from '../format';
import { costs, type ICostStyle } from './costs';

const LETTERS: Record<Row['kind'], string> = {
  serial: 'S',
  parallel: 'P',
  vectorized: 'V',
  unrolled: 'U',
  thread: 'T',
  grid: 'G',
  virtual: 'I',
  tensor: 'X',
  block: '▣',
  buffer: '▤',
  let: '=',
  call: 'ƒ',
  barrier: '‖'
};

const CALLS: Partial<Record<Row['kind'], string>> = {
  parallel: 'parallel',
  vectorized: 'vectorize',
  unrolled: 'unroll',
  thread: 'thread',
  grid: 'thread',
  virtual: 'virtual',
  tensor: 'tensor'
};

/** One line of the nest: its letter, the loop as it reads, its costs. */
export function drawRow(
  row: Row,
  hasInner: boolean,
  folded: boolean,
  style: ICostStyle
): HTMLElement {
  const kind =
    row.type === 'loop' && row.kind === 'serial' && row.reduction ? 'reduction' : row.kind;
  const letter = kind === 'reduction' ? 'R' : LETTERS[row.kind];
  return h(
    'div',
    {
      class: 'tvmlab-row',
      role: 'treeitem',
      'data-row': row.id,
      'aria-level': row.depth + 1,
      'aria-expanded': hasInner ? String(!folded) : null,
      'aria-label': describe(row)
    },
    h('span', { class: 'tvmlab-kind', 'data-kind': kind, title: kindTitle(row) }, letter),
    h(
      'span',
      { class: 'tvmlab-text', style: `--depth:${row.depth}` },
      ...words(row),
      folded && dim(' …')
    ),
    row.cost ? costs(row.cost, style, row.id) : h('span')
  );
}

function dim(text: string): HTMLElement {
  return h('span', { class: 'tvmlab-dim' }, text);
}

function remarkOf(type: Row['type'], note: string): string {
  return type === 'loop' ? `  # ${note}` : `  ${note}`;
}

function mark(text: string): HTMLElement {
  return h('span', { class: 'tvmlab-mark' }, text);
}

/** The memory that a buffer lives in, in the color of those who share it. */
function scope(name: string | null): (Node | string)[] {
  return name === null
    ? []
    : ['  ', h('span', { class: 'tvmlab-scope', 'data-scope': name.split('.')[0] }, name)];
}

function words(row: Row): (Node | string)[] {
  const name = h('span', { class: 'tvmlab-name' }, row.name);
  const bound = row.kind === 'thread' || row.kind === 'grid';
  const remark = row.note === null || bound ? [] : [dim(remarkOf(row.type, row.note))];
  const note = [...remark, ...row.marks.map(mark)];
  if (row.type === 'loop') {
    const call = CALLS[row.kind];
    const extent = h(
      'span',
      { class: 'tvmlab-extent' },
      row.extent === null ? row.text : String(row.extent)
    );
    const tag =
      bound && row.note !== null ? [', ', h('span', { class: 'tvmlab-tag-name' }, row.note)] : [];
    const range = call === undefined ? [extent] : [`${call}(`, extent, ...tag, ')'];
    return [dim('for '), name, dim(' in '), ...range, ...note];
  }
  if (row.type !== 'buffer') {
    return [name, row.text, ...note];
  }
  const size =
    row.bytes === null ? [] : [dim(`${row.scope === null ? '  ' : ' · '}${bytes(row.bytes)}`)];
  return [name, dim(': '), row.text, ...scope(row.scope), ...size, ...note];
}

const KIND_WORDS: Partial<Record<Row['kind'], string>> = {
  grid: marked('groups of threads'),
  thread: marked('threads of a group'),
  virtual: marked('interleaved virtual threads'),
  let: marked('named value'),
  call: marked('call of outside code')
};

function kindTitle(row: Row): string {
  const kind = t(KIND_WORDS[row.kind] ?? row.kind);
  return row.type === 'loop' && row.reduction ? t('%1, reduction', kind) : kind;
}

/** The line as a sentence, for those who listen. */
function describe(row: Row): string {
  const parts: string[] = [];
  if (row.type === 'loop') {
    parts.push(t('%1 loop %2', kindTitle(row), row.name));
    if (row.extent !== null) {
      parts.push(t('%1 iterations', count(row.extent)));
    }
  } else if (row.type === 'block') {
    parts.push(t('block %1 %2', row.name, row.text));
  } else if (row.type === 'statement') {
    parts.push(`${row.kind} ${row.name} ${row.text}`);
  } else {
    parts.push(t('buffer %1, %2', row.name, row.text), ...(row.scope === null ? [] : [row.scope]));
  }
  if (row.note !== null) {
    parts.push(row.note);
  }
  parts.push(...row.marks);
  if (row.cost) {
    parts.push(t('%1 of the time', percent(row.cost.time)));
  }
  return parts.join(', ');
}

import type { Comparison, DiffLine, HistoryNode, Row } from '@tvmlab/schema';

import { t } from './hostPage';
import { time } from './format';
import type { IRecording } from './recorded';

/** Two states of a recording side by side, or why that cannot be. */
export function compareRecorded(recording: IRecording, a: string, b: string): Comparison | string {
  const { nodes } = recording.state.history;
  const [first, second] = [recording.nodes[a], recording.nodes[b]];
  const [here, there] = [a, b].map(id => nodes.find(node => node.id === id));
  if (!first || !second || !here || !there) {
    return t('This state was not kept.');
  }
  const count = (rows: readonly Row[], type: Row['type']): string =>
    String(rows.filter(row => row.type === type).length);
  const measured = (node: HistoryNode): string =>
    node.seconds === null ? t('not measured') : time(node.seconds);
  return {
    a,
    b,
    a_label: here.checkpoint ?? here.label,
    b_label: there.checkpoint ?? there.label,
    shared: sharedOf(nodes, a, b),
    facts: [
      { label: 'loops', a: count(first.rows, 'loop'), b: count(second.rows, 'loop') },
      { label: 'blocks', a: count(first.rows, 'block'), b: count(second.rows, 'block') },
      { label: 'measured', a: measured(here), b: measured(there) }
    ],
    gain: gainOf(here, there),
    nest: diffTexts(first.rows.map(rowText), second.rows.map(rowText)),
    code: diffTexts(linesOf(first.sources.python?.text), linesOf(second.sources.python?.text))
  };
}

const linesOf = (text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : text.split('\n');

function rowText({ depth, type, kind, name, extent, text }: Row): string {
  const what = type === 'loop' ? `for ${name} in ${kind}(${extent ?? text})` : `${name}${text}`;
  return `${'  '.repeat(depth)}${what}`;
}

function sharedOf(nodes: readonly HistoryNode[], a: string, b: string): string {
  const path = (id: string): string[] => {
    const found: string[] = [];
    for (let at: string | null = id; at !== null;) {
      const here: string = at;
      found.push(here);
      at = nodes.find(node => node.id === here)?.parent ?? null;
    }
    return found;
  };
  const known = new Set(path(a));
  const id = path(b).find(node => known.has(node));
  const node = nodes.find(candidate => candidate.id === id);
  return node?.checkpoint ?? node?.label ?? '';
}

/** From the gains over the start, which are all that a recording has of the spread. */
function gainOf(a: HistoryNode, b: HistoryNode): Comparison['gain'] {
  if (a.seconds === null || b.seconds === null || !a.gain || !b.gain) {
    return null;
  }
  const low = b.gain.low / a.gain.high;
  const high = b.gain.high / a.gain.low;
  return {
    ratio: a.seconds / b.seconds,
    low,
    high,
    kind: low > 1 ? 'gain' : high < 1 ? 'loss' : 'noise'
  };
}

/** The lines of two texts by their longest common sequence. */
export function diffTexts(a: readonly string[], b: readonly string[]): DiffLine[] {
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = common[i];
      if (row) {
        row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i] ?? '' });
      [i, j] = [i + 1, j + 1];
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', text: a[i] ?? '' });
      i += 1;
    } else {
      lines.push({ sign: '+', text: b[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}

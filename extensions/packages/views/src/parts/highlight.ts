import { h } from '../dom';

/** What a piece of code is; each is a color of the theme of the code. */
const KINDS = ['comment', 'string', 'number', 'keyword', 'name'] as const;

const PATTERN = new RegExp(
  [
    '(?<comment>#.*|;.*)',
    '(?<string>"[^"]*"|\'[^\']*\')',
    '(?<name>[%@!.][\\w.$-]+)',
    '(?<number>(?<![\\w.])-?(?:0x[\\da-f]+|\\d[\\d.]*(?:e[+-]?\\d+)?)(?![\\w]))',
    '(?<keyword>\\b(?:for|in|if|else|with|def|return|import|from|as|not|and|or|range|block|' +
      'parallel|vectorize|unroll|define|declare|call|br|ret|load|store|getelementptr|fadd|fmul|' +
      'add|mul|sub|phi|icmp|label|True|False|None)\\b)'
  ].join('|'),
  'gi'
);

/** A line of code in pieces, those with a meaning of their own marked. */
export function highlighted(text: string): (string | HTMLElement)[] {
  const pieces: (string | HTMLElement)[] = [];
  let at = 0;
  for (const match of text.matchAll(PATTERN)) {
    const kind = KINDS.find(name => match.groups?.[name]);
    pieces.push(text.slice(at, match.index), piece(kind ?? 'name', match[0]));
    at = match.index + match[0].length;
  }
  return [...pieces, text.slice(at)];
}

function piece(kind: (typeof KINDS)[number], text: string): HTMLElement {
  return h('span', { 'data-token': kind }, text);
}

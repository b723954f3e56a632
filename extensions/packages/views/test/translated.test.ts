// @vitest-environment node
import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { untranslated } from './visibleTexts';

const PACKAGES = new URL('../../', import.meta.url);
const SOURCES = ['views/src/', 'widgets/src/', 'labextension/src/'];
/** Program text, pictures, and what only JupyterLab or the console reads. */
const NOT_SHOWN = [
  /^(# Run this cell|import tvmlab as tl)/,
  /^# tvmlab: steps of the explorer$/,
  /^for % in %\(%\)$/,
  /^tvmlab: settings could not be loaded/,
  /^Shows the schedule session of a notebook/,
  /^Notebook$/
];

describe('texts of the views', () => {
  it('pass through the translator', () => {
    const found = SOURCES.flatMap(folder =>
      readdirSync(new URL(folder, PACKAGES), { recursive: true, encoding: 'utf8' })
        .filter(name => name.endsWith('.ts'))
        .flatMap(name =>
          untranslated(name, readFileSync(new URL(folder + name, PACKAGES), 'utf8'))
            .filter(text => !NOT_SHOWN.some(known => known.test(text.replace(/^\d+: /, ''))))
            .map(text => `${folder}${name}:${text}`)
        )
    );
    expect(found).toEqual([]);
  });

  it.each([
    ["h('p', {}, 'plain words')", 'plain words'],
    ["h('p', {}, open ? 'one' : t('other'))", 'one'],
    ["h('b', { title: `${n} loops` })", '% loops'],
    ["node.textContent = 'Nothing'", 'Nothing'],
    ["h('tr', {}, ...['size'].map(text => h('th', {}, text)))", 'size'],
    ["const why = 'No step was taken.'", 'No step was taken.'],
    ['const told = `${n} of ${all} tried`', '% of % tried']
  ])('are found in %s', (source, text) => {
    expect(untranslated('a.ts', source)).toEqual([`1: ${text}`]);
  });

  it.each([
    "h('p', { class: 'one two' }, t('plain words'))",
    "root.querySelector('.tvmlab-btn svg')",
    "if (event.key === 'Enter') { go('asm'); }",
    'const key = `source:${kind}`',
    "h('i', { style: `width:${n} px` }, `${n} · ${m}`)"
  ])('are not seen in %s', source => {
    expect(untranslated('a.ts', source)).toEqual([]);
  });
});

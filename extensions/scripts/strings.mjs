// Writes the template for translators, tvmlab/static/tvmlab.pot: every text that the views and the
// JupyterLab extension show, with where it stands, and the titles and descriptions of the settings.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';

import ts from 'typescript';

const root = new URL('..', import.meta.url);
const OUTPUT = new URL('../tvmlab/static/tvmlab.pot', root);
const SOURCES = ['packages/views/src/', 'packages/widgets/src/', 'packages/labextension/src/'];
const SETTINGS = 'packages/labextension/schema/plugin.json';

const found = new Map();
const add = (text, place) => found.set(text, [...(found.get(text) ?? []), place]);

for (const folder of SOURCES) {
  const names = await readdir(new URL(folder, root), { recursive: true });
  for (const name of names.filter(each => each.endsWith('.ts')).sort()) {
    const path = folder + name;
    const source = await readFile(new URL(path, root), 'utf8');
    collect(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true), path);
  }
}
const { title, description, properties } = JSON.parse(
  await readFile(new URL(SETTINGS, root), 'utf8')
);
for (const each of [{ title, description }, ...Object.values(properties)]) {
  add(each.title, SETTINGS);
  add(each.description, SETTINGS);
}

await mkdir(new URL('.', OUTPUT), { recursive: true });
await writeFile(OUTPUT, template());

/** Every text given to `t`, `marked` or a bundle's `__` must be a literal, else nobody finds it. */
function collect(file, path) {
  const visit = node => {
    if (ts.isCallExpression(node) && isTranslation(node.expression)) {
      const [text] = node.arguments;
      if (text !== undefined && ts.isStringLiteralLike(text)) {
        add(text.text, `${path}:${file.getLineAndCharacterOfPosition(node.pos).line + 1}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}

function isTranslation(called) {
  return ts.isIdentifier(called)
    ? called.text === 't' || called.text === 'marked'
    : ts.isPropertyAccessExpression(called) && called.name.text === '__';
}

function template() {
  const header =
    'msgid ""\nmsgstr ""\n"Project-Id-Version: tvmlab\\n"\n' +
    '"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n' +
    '"Content-Transfer-Encoding: 8bit\\n"\n';
  const entries = [...found].map(
    ([text, places]) =>
      `${places.map(place => `#: ${place}\n`).join('')}msgid ${quoted(text)}\nmsgstr ""\n`
  );
  return [header, ...entries].join('\n');
}

function quoted(text) {
  return JSON.stringify(text);
}

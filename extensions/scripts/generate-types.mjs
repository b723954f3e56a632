// Makes the TypeScript types of the protocols from their JSON Schemas. Run with --check to learn
// whether the committed files are current.
import { readFile, writeFile } from 'node:fs/promises';

import { compile } from 'json-schema-to-typescript';

const PROTOCOLS = [
  ['protocol.schema.json', 'generated.ts', 'Protocol'],
  ['graph.schema.json', 'graph/generated.ts', 'GraphProtocol'],
  ['search.schema.json', 'search/generated.ts', 'SearchProtocol']
];

async function generate(schemaPath, name, file) {
  const schema = JSON.parse(await readFile(schemaPath, 'utf8'));
  return compile(schema, name, {
    additionalProperties: false,
    bannerComment: `/* Made from ${file} by \`npm run generate\`; do not edit. */`,
    style: { singleQuote: true, printWidth: 100 },
    unreachableDefinitions: false
  });
}

for (const [file, output, name] of PROTOCOLS) {
  const schemaPath = new URL(`../packages/schema/${file}`, import.meta.url);
  const outputPath = new URL(`../packages/schema/src/${output}`, import.meta.url);
  const wanted = await generate(schemaPath, name, file);
  if (!process.argv.includes('--check')) {
    await writeFile(outputPath, wanted);
  } else if ((await readFile(outputPath, 'utf8')) !== wanted) {
    console.error(`${output} is not current: run npm run generate`);
    process.exit(1);
  }
}

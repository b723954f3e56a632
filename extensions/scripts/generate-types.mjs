// Makes the TypeScript types of the protocol from its JSON Schema. Run with --check to learn
// whether the committed file is current.
import { readFile, writeFile } from 'node:fs/promises';

import { compile } from 'json-schema-to-typescript';

const schemaPath = new URL('../packages/schema/protocol.schema.json', import.meta.url);
const outputPath = new URL('../packages/schema/src/generated.ts', import.meta.url);

export async function generate() {
  const schema = JSON.parse(await readFile(schemaPath, 'utf8'));
  return compile(schema, 'Protocol', {
    additionalProperties: false,
    bannerComment: '/* Made from protocol.schema.json by `npm run generate`; do not edit. */',
    style: { singleQuote: true, printWidth: 100 },
    unreachableDefinitions: false
  });
}

const wanted = await generate();
if (process.argv.includes('--check')) {
  if ((await readFile(outputPath, 'utf8')) !== wanted) {
    console.error('generated.ts is not current: run npm run generate');
    process.exit(1);
  }
} else {
  await writeFile(outputPath, wanted);
}

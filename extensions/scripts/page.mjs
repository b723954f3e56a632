// Writes the design page, one HTML file that needs no server: packages/views/lib/page.html
import { writeFile } from 'node:fs/promises';

import { build } from 'esbuild';

const result = await build({
  bundle: true,
  write: false,
  format: 'esm',
  entryPoints: ['packages/views/test/page.ts'],
  loader: { '.css': 'text' }
});
const script = result.outputFiles[0].text.replaceAll('</script', '<\\/script');
await writeFile(
  'packages/views/lib/page.html',
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>tvmlab explorer, design page</title>
<body style="margin:0"><script type="module">${script}</script></body></html>`
);

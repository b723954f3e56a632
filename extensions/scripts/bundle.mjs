// Bundles what is shipped: the views (as one module for the JupyterLab extension and for offline
// pages) and the anywidget module that a notebook cell loads. Nothing is fetched at run time.
import { build } from 'esbuild';

const common = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  loader: { '.css': 'text' },
  legalComments: 'none',
  logLevel: 'warning'
};

await Promise.all([
  build({
    ...common,
    entryPoints: ['packages/views/src/index.ts'],
    outfile: 'packages/views/lib/index.js'
  }),
  build({
    ...common,
    minify: true,
    entryPoints: ['packages/widgets/src/index.ts'],
    outfile: '../tvmlab/static/explorer.js',
    alias: { '@tvmlab/views': './packages/views/src/index.ts' }
  }),
  build({
    ...common,
    format: 'iife',
    minify: true,
    entryPoints: ['packages/widgets/src/page.ts'],
    outfile: '../tvmlab/static/page.js',
    alias: { '@tvmlab/views': './packages/views/src/index.ts' }
  })
]);

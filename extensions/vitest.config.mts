import { readFileSync } from 'node:fs';

import { defineConfig } from 'vitest/config';

/** Style sheets are text here too, as the bundler makes them. */
const cssAsText = {
  name: 'css-as-text',
  enforce: 'pre' as const,
  load(id: string) {
    return id.endsWith('.css')
      ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))};`
      : null;
  }
};

export default defineConfig({
  plugins: [cssAsText],
  test: { environment: 'jsdom', include: ['packages/*/test/**/*.test.ts'] }
});

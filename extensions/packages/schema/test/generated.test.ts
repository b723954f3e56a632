// @vitest-environment node
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

it('has types that are current with the schema', () => {
  const script = fileURLToPath(new URL('../../../scripts/generate-types.mjs', import.meta.url));
  expect(() =>
    execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe' })
  ).not.toThrow();
});

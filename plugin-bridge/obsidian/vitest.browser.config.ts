import { defineConfig } from 'vitest/config';

/** The release main.js in a real browser. Node's side of the tests runs here. */
export default defineConfig({
  test: {
    environment: 'node',
    include: ['tests/browser/**/*.test.ts'],
    setupFiles: ['tests/browser/node-setup.ts'],
    reporters: ['default', './tests/support/count-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});

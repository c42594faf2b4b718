import { defineConfig } from 'vitest/config';

/** Figures, not checks: `npm run bench`. */
export default defineConfig({
  test: {
    environment: 'node',
    include: ['tests/bench/**/*.test.ts'],
    setupFiles: ['tests/browser/node-setup.ts'],
    testTimeout: 600_000,
  },
});

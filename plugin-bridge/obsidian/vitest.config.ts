import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: { obsidian: fileURLToPath(new URL('./tests/app/obsidian.ts', import.meta.url)) },
  },
  test: {
    environment: 'jsdom',
    include: ['tests/unit/**/*.test.ts', 'tests/daemon/**/*.test.ts', 'tests/ui/**/*.test.ts'],
    setupFiles: ['tests/app/setup.ts'],
    reporters: ['default', './tests/support/count-reporter.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    restoreMocks: true,
  },
});

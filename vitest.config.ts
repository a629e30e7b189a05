import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    exclude: ['tests/lab/**', '**/node_modules/**'],
    // A test that waits for an event gives up here; nothing measures time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    allowOnly: !process.env.CI,
  },
});

import { defineConfig } from 'vitest/config';

/**
 * The checks of the Debian package (`npm run test:deb`), which `npm test` leaves out: they want root, Debian's archive and minutes.
 * `npm run test:deb -- --update` also writes docs/transcript.md again.
 */
export default defineConfig({
  test: {
    include: ['tests/deb/*.check.ts'],
    globalSetup: 'tests/deb/packages.ts',
    env: { UPDATE_TRANSCRIPT: process.argv.includes('--update') ? '1' : '' },
    testTimeout: 600_000,
    hookTimeout: 900_000,
    pool: 'forks',
    fileParallelism: false,
  },
});

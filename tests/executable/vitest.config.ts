import { defineConfig } from 'vitest/config';

/** The checks of the single executable (`npm run test:bin`), which `npm test` leaves out: they want a minute and 160 MB. */
export default defineConfig({
  test: { include: ['tests/executable/*.check.ts'], testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks' },
});

import { defineConfig } from 'vitest/config';

/** The check against Samba as an Active Directory (`npm run test:ad`), which `npm test` leaves out: it wants root and minutes. */
export default defineConfig({
  test: {
    include: ['tests/active-directory/*.check.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
  },
});

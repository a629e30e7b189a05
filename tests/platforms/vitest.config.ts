import { defineConfig } from 'vitest/config';

/** The checks of other platforms (`npm run test:arm64`, `test:windows`, `test:container`): they need emulators or root, and minutes. */
export default defineConfig({
  test: { include: ['tests/platforms/*.check.ts'], testTimeout: 600_000, hookTimeout: 600_000, pool: 'forks' },
});

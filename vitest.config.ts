import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/longest-first.ts';

// The processes of the tests load the same modules hundreds of times. Each run on the same clone continues this cache.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'devmgr-compiled-tests');

/**
 * Test files that leave nothing behind in their process: a worker loads the modules of the daemon once for all of them, and starts one
 * process for their commands, which is half of their time. Those that are excluded replace modules, change their environment, keep what
 * they have loaded, load the native module of PC/SC, or measure the time of their process.
 */
export const sharing =
  'tests/{api,cli,cluster,console,contract,delivery,docs,domain,hardware,lint,packaging,proof,security}/**/!(on-postgres|constant-serials|own-numbers|freeze|speed|adding|station|station-issuing|station-numbers|session|devices-return|proxies*|store-sqlite-file|rehearsals|words|roster*|spool|unfinished|grammar|transport|doctor-report|pcsc*|driver-pcsc|prove-scp11b|card-only-key|key-card|enroll|verify).test.ts';
const others = ['tests/lab/**', '**/node_modules/**'];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'alone', include: ['tests/**/*.test.ts'], exclude: [...others, sharing] } },
      { extends: true, test: { name: 'sharing', include: [sharing], isolate: false } },
    ],
    setupFiles: ['tests/support/every-test.ts'],
    globalSetup: [
      'tests/support/memory-folder.ts',
      'tests/support/daemons-left.ts',
      'tests/support/built-program.ts',
      'tests/support/bundled-programs.ts',
      'tests/support/postgres-server.ts',
    ],
    // A test that waits for an event gives up here; nothing measures time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A poll as well: the default of 1 s is a measurement on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    // Real daemons, databases and readers on a machine that others use as well: the output marks a test that needed a second run.
    retry: process.env.CI ? 1 : 0,
    pool: 'forks',
    // Two processors: files wait for processes, servers and readers for half of their time. Five take as long as four.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    allowOnly: !process.env.CI,
  },
});

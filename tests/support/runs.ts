/**
 * The runs that the tests are divided into, so that `npm test` ends within 15 minutes on two processors. It has the files of no other run;
 * `npm run test:exhaustive`, `test:browser`, `test:leavers` and `test:issuing` have those below, and `.ci/run` runs them all. Any run of
 * vitest that names files has them.
 */
import { matchesGlob } from 'node:path';

export const otherRuns = {
  /**
   * Each fault at each step, thousands of inputs, storms in random order, all examples of the docs, a second version of PostgreSQL, and
   * the stores of the tests that are broken in one place each.
   */
  exhaustive: [
    'tests/faults/!(issuing|leavers|persons).test.ts',
    'tests/api/{documents-newman,documents-spectral,malformed,on-postgres}.test.ts',
    'tests/cli/{bad-servers,closed-pipe,completion-shells,hostile-server,registry-refused,roster-random,roster-slow-disk,spool-flush,ssh-logins,torn-rows,unfinished}.test.ts',
    'tests/contract/{blobs-s3,store-broken,store-postgres-versions,store-sqlite-faults,store-sqlite-lists}.test.ts',
    'tests/packaging/client-package-linters.test.ts',
    'tests/delivery/directory-size.test.ts',
    'tests/docs/{blocks,doors-logins,doors-servers}.test.ts',
    'tests/hardware/{card-fuzz,key-fuzz,pcsc-faults}.test.ts',
    'tests/security/{flood,freeze,json-shape,many-at-once,pipelining,scim-malformed,sso-malformed,stall}.test.ts',
  ],
  /** The console in Chromium. `npm test` has its list of devices. */
  browser: ['tests/console/!(devices).test.ts', 'tests/api/documents-browser.test.ts'],
  /** Runs of their own with as many persons and keys as a day has. */
  leavers: ['tests/faults/leavers.test.ts'],
  issuing: ['tests/faults/issuing.test.ts'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Whether a run has a file, named from the root. `DEVMGR_TESTS` is `ordinary` for `npm test`, the name of another run, or absent. */
export function isChosen(file: string, run = process.env.DEVMGR_TESTS ?? null): boolean {
  if (run === null) return true;
  const others = Object.entries(otherRuns).filter(([, patterns]) => patterns.some(one => matchesGlob(file, one)));
  return run === 'ordinary' ? others.length === 0 : others.some(([name]) => name === run);
}

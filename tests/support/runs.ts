/**
 * The runs that the tests are divided into, so that `npm test` ends within 15 minutes on two processors. It has the files of no other run;
 * `npm run test:exhaustive` and `npm run test:browser` have those below, and `.ci/run` runs them all. Any run of vitest that names
 * files has them.
 */
import { matchesGlob } from 'node:path';

export const otherRuns = {
  /** Each fault at each step, thousands of inputs, storms in random order, all examples of the docs, a second version of PostgreSQL. */
  exhaustive: [
    'tests/faults/!(crash|issuing|leavers|persons).test.ts',
    'tests/api/{documents-newman,malformed,on-postgres}.test.ts',
    'tests/cli/{bad-servers,completion-shells,hostile-server,registry-refused,roster-random,roster-slow-disk,torn-rows}.test.ts',
    'tests/contract/store-postgres-versions.test.ts',
    'tests/delivery/directory-size.test.ts',
    'tests/docs/blocks.test.ts',
    'tests/hardware/{card-fuzz,key-fuzz}.test.ts',
    'tests/security/{flood,freeze,scim-malformed,sso-malformed,stall}.test.ts',
  ],
  /** The console in Chromium. `npm test` has its list of devices. */
  browser: ['tests/console/!(devices).test.ts', 'tests/api/documents-browser.test.ts'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Whether a run has a file, named from the root. `DEVMGR_TESTS` is `ordinary` for `npm test`, the name of another run, or absent. */
export function isChosen(file: string, run = process.env.DEVMGR_TESTS ?? null): boolean {
  if (run === null) return true;
  const others = Object.entries(otherRuns).filter(([, patterns]) => patterns.some(one => matchesGlob(file, one)));
  return run === 'ordinary' ? others.length === 0 : others.some(([name]) => name === run);
}

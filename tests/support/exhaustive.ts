import { matchesGlob } from 'node:path';

/**
 * The test files that look at everything or try everything: each fault at each step, thousands of inputs, storms in random order, every
 * page in every state, a second version of PostgreSQL. They take half of the time of all tests. `npm test` leaves them out, so that it
 * ends within 15 minutes on two processors; `npm run test:exhaustive` runs them, and `.ci/run` runs both.
 */
export const exhaustive: readonly string[] = [
  'tests/faults/!(crash|issuing|leavers).test.ts',
  'tests/api/malformed.test.ts',
  'tests/api/on-postgres.test.ts',
  'tests/cli/{bad-servers,hostile-server,registry-refused,roster-random,roster-slow-disk,torn-rows}.test.ts',
  'tests/console/{every-page,speed}.test.ts',
  'tests/contract/store-postgres-versions.test.ts',
  'tests/delivery/directory-size.test.ts',
  'tests/hardware/{card-fuzz,key-fuzz}.test.ts',
  'tests/security/{flood,freeze,scim-malformed,sso-malformed,stall}.test.ts',
];

/** Whether a run has a file, named from the root. `DEVMGR_TESTS`: `ordinary` or `exhaustive`; any other run has all files that it names. */
export function isChosen(file: string, chosen = process.env.DEVMGR_TESTS): boolean {
  if (chosen !== 'ordinary' && chosen !== 'exhaustive') return true;
  return exhaustive.some(pattern => matchesGlob(file, pattern)) === (chosen === 'exhaustive');
}

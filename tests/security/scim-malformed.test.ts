/**
 * Filters, paths and bodies of SCIM of any form: an error of the standard at once, never a 500. `npm run fuzz` has them among its
 * inputs.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { scimInputs } from '../fuzz/inputs.ts';
import { furnish, spawnTried } from '../fuzz/leaks.ts';
import { tryInputs } from '../fuzz/run.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { patchOp, type ScimCall, scimClient } from '../support/scim.ts';
import { temporaryFolder } from '../support/temporary.ts';

it('answers 8,000 malformed requests, none of which holds the main thread for 50 ms', async () => {
  const daemon = await spawnTried(temporaryFolder());
  onTestFinished(() => void daemon.kill());
  const seed = Number(process.env.DEVMGR_TEST_SEED ?? Date.now() % 1_000_000_000);
  const target = { ...daemon, scimToken: await furnish(daemon) };
  const { faults, sent, statuses } = await tryInputs(target, { seed, count: 8000, inputs: scimInputs });
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(sent).toBe(8000);
  for (const status of [200, 400, 401, 404])
    expect([status, statuses.get(status) ?? 0]).toEqual([status, expect.any(Number)]);
  expect(statuses.get(200)).toBeGreaterThan(100);
}, 120_000);

describe('a request that would cause millions of comparisons', () => {
  let daemon: TestDaemon;
  let scim: ScimCall;
  let user: string;
  beforeAll(async () => {
    daemon = await startTestDaemon();
    scim = await scimClient(daemon);
    user = `/Users/${(await scim('POST', '/Users', { userName: 'ada' })).body.id}`;
  });
  afterAll(() => daemon?.stop());

  const addresses = (count: number) => Array.from({ length: count }, (_, i) => `a${i}@example.com`);
  const tooMany = { status: 400, body: { scimType: 'tooMany' } };

  it.each([
    ['many values', () => [{ op: 'replace', path: 'emails', value: addresses(21) }]],
    [
      'values that are added one after the other',
      () => addresses(22).map(value => ({ op: 'add', path: 'emails', value })),
    ],
    ['many operations', () => addresses(101).map(value => ({ op: 'replace', path: 'displayName', value }))],
    [
      'operations with many members',
      () => [
        { op: 'replace', value: Object.fromEntries(addresses(101).map((_, i) => [`emails[type eq "${i}"]`, 'a'])) },
      ],
    ],
  ])('is refused: %s', async (_, operations) => {
    expect(await scim('PATCH', user, patchOp(...operations()))).toMatchObject(tooMany);
  });

  it.each(['attributes', 'excludedAttributes'])('is refused: many names in %s', async name => {
    expect(await scim('GET', `/Users?${name}=${'id,'.repeat(100)}id`)).toMatchObject(tooMany);
    expect(await scim('GET', `/Users?${name}=${'id,'.repeat(99)}id`)).toMatchObject({ status: 200 });
  });

  it('is carried out with as many values and operations as are allowed', async () => {
    const operations = [
      { op: 'replace', path: 'emails', value: addresses(20) },
      ...addresses(99).map(value => ({ op: 'replace', path: 'displayName', value })),
    ];
    expect(await scim('PATCH', user, patchOp(...operations))).toMatchObject({ status: 200 });
  });
});

/** The log of provisioning: what each source changed, and what was refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { patchOp, type ScimCall, scimClient } from '../support/scim.ts';

let daemon: TestDaemon;
let scim: ScimCall;
beforeAll(async () => {
  daemon = await startTestDaemon();
  scim = await scimClient(daemon);
});
afterAll(() => daemon?.stop());

let made = 0;
const add = async (more: object = {}) => (await scim('POST', '/Users', { userName: `log.${++made}`, ...more })).body;
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value });

describe('the log of provisioning', () => {
  const log = async (query: string) => data(await daemon.call('GET', `/api/people/log?size=100&${query}`)).list;

  it('has what each source changed and what was refused, also a leaver who is not found, by person', async () => {
    const { id, userName } = await add({ externalId: `of-${made}` });
    await scim('PATCH', `/Users/${id}`, patchOp(replace('displayName', 'Ada')));
    await scim(
      'PATCH',
      `/Users/${id}`,
      patchOp(replace('emails', [{ value: 'no address' }]), replace('active', false)),
    );
    const found = await log(`personId=${id}`);
    const seen = found.map(({ outcome, fields }: { outcome: string; fields: string[] }) => [outcome, fields]);
    const sorted = seen.toSorted(([a]: string[], [b]: string[]) => a!.localeCompare(b!));
    expect(sorted).toEqual([
      ['added', []],
      [expect.stringMatching(/left|held/), []],
      ['refused', ['email']],
      ['updated', ['names', 'name']],
    ]);
    const token = expect.stringMatching(/^token:/);
    for (const one of found) expect(one).toMatchObject({ source: 'scim', personId: id, userName });
    expect(found.find((one: { outcome: string }) => one.outcome === 'updated')).toMatchObject({
      actor: token,
      requestId: expect.any(String),
    });
    const missing = await scim('PATCH', '/Users/PER-99999', patchOp(replace('active', false)));
    expect(missing.status).toBe(404);
    expect(await log('source=scim')).toContainEqual(
      expect.objectContaining({
        outcome: 'refused',
        personId: null,
        reason: expect.stringContaining('does not exist'),
      }),
    );
    expect(await log('personId=PER-99999')).toEqual([]);
  });

  it('has items of an import that failed, and those that changed something', async () => {
    const people = [{ userName: 'log.imported' }, { userName: 'log.bad', email: 'no address' }];
    data(await daemon.call('POST', '/api/people/import', { people, dryRun: true }));
    expect(await log('source=import')).toEqual([]);
    data(await daemon.call('POST', '/api/people/import', { people }));
    const found = await log('source=import');
    expect(found).toHaveLength(2);
    expect(found).toContainEqual(
      expect.objectContaining({ outcome: 'added', userName: 'log.imported', actor: 'admin' }),
    );
    expect(found).toContainEqual(
      expect.objectContaining({ outcome: 'refused', userName: 'log.bad', reason: expect.stringContaining('email') }),
    );
  });
});

/** A provider renames, ends, removes and adds persons, and reuses names and ids: the brake holds, and one command takes it back. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { mulberry } from '../support/mulberry.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { patchOp, type ScimCall, scimClientWith } from '../support/scim.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const PERSONS = 30;
const REQUESTS = 200;
/** Further rounds have other seeds, counted from the first one. */
const ROUNDS = Number(process.env.DEVMGR_HOSTILE_ROUNDS ?? 1);
const first = Number(process.env.DEVMGR_HOSTILE_SEED ?? 35_645_831);
const seeds = Array.from({ length: ROUNDS }, (_, i) => first + i);
/** A user name that the provider gives back waits for a release when the batch is undone. */
seeds.push(1170);

let daemon: TestDaemon;
let scim: ScimCall;
beforeEach(async () => {
  daemon = await startTestDaemon();
  const token = { name: 'provider', role: 'VIEWER', expiresInDays: 1, may: ['scim'] };
  scim = scimClientWith(() => daemon.url, data(await daemon.call('POST', '/api/tokens', token)).token);
});
afterEach(() => daemon?.stop());

const call = (method: string, path: string, body?: object) => daemon.call(method, path, body);

it.each(seeds)('the brake holds, and people undo restores everyone (seed %i)', { timeout: 300_000 }, async seed => {
  const random = mulberry(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const post = (userName: string, externalId: string) =>
    scim('POST', '/Users', { schemas: [USER], userName, externalId, displayName: `Name of ${userName}`, active: true });
  const ids: string[] = [];
  const devices: string[] = [];
  for (let i = 0; i < PERSONS; i++) {
    ids.push((await post(`person.${i}`, `id-${i}`)).body.id);
    const device = await register(daemon);
    devices.push(data(await call('POST', '/api/devices/activate', activation(device, `person.${i}`))).deviceId);
  }
  const state = async () => {
    const persons = await Promise.all(ids.map(async id => data(await call('GET', `/api/people/${id}`))));
    const keys = await Promise.all(devices.map(async id => data(await call('GET', `/api/devices/${id}`))));
    return {
      persons: persons.map(({ personId, userName, name, email, externalId, active, source }) => {
        return { personId, userName, name, email, externalId, active, source };
      }),
      keys: keys.map(({ deviceId, status, userId, personId }) => ({ deviceId, status, userId, personId })),
    };
  };
  const before = await state();
  const batch = { actor: 'token:provider', from: new Date().toISOString() };
  const known = [...ids];
  const name = () => pick([`person.${Math.floor(random() * PERSONS)}`, `new.${Math.floor(random() * PERSONS)}`]);
  const externalId = () => pick([`id-${Math.floor(random() * PERSONS)}`, `new-${Math.floor(random() * PERSONS)}`]);
  for (let i = 0; i < REQUESTS; i++) {
    const set = (path: string, value: unknown) =>
      scim('PATCH', `/Users/${pick(known)}`, patchOp({ op: 'replace', path, value }));
    const kind = pick([
      'userName',
      'userName',
      'externalId',
      'displayName',
      'email',
      'leave',
      'leave',
      'remove',
      'add',
    ]);
    if (kind === 'userName') await set(kind, name());
    else if (kind === 'externalId') await set(kind, externalId());
    else if (kind === 'displayName') await set(kind, `Hostile ${i}`);
    else if (kind === 'email') await set('emails', [{ value: `hostile${i}@example.com`, type: 'work', primary: true }]);
    else if (kind === 'leave') await set('active', false);
    else if (kind === 'remove') await scim('DELETE', `/Users/${pick(known)}`);
    else {
      const { status, body } = await post(name(), externalId());
      if (status === 201) known.push(body.id);
    }
  }
  const hostile = await state();
  // Fewer than ten keys were locked, and fewer than ten that can be used show another name: the brake does not count locked ones.
  const usable = hostile.keys.filter(({ status }) => status === 'ACTIVE');
  expect(usable.length).toBeGreaterThan(PERSONS - 10);
  const names = new Map(before.keys.map(({ deviceId, userId }) => [deviceId, userId]));
  expect(usable.filter(({ deviceId, userId }) => userId !== names.get(deviceId)).length).toBeLessThan(10);
  const run = async () => {
    const steps: { outcome: string; reason: string | null }[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const part: { list: typeof steps; next: number | null } = data(
        await call('POST', '/api/people/undo', { ...batch, after }),
      );
      steps.push(...part.list);
      after = part.next;
    }
    return steps;
  };
  await run();
  expect(await state()).toEqual(before);
  expect(data(await call('GET', '/api/people/held')).list).toEqual([]);
  expect((await run()).filter(({ outcome }) => outcome === 'restored')).toEqual([]);
  expect(await state()).toEqual(before);
  const verified = { home: daemon.home, json: false, device: null, since: null, limit: null, verify: true };
  expect(await runDaemonProgram(audit, verified)).toMatchObject({ code: 0 });
});

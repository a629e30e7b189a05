/** The reset of an issued key: the key first, then the providers, whatever is refused, unplugged or killed in between. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askedReset, eraseKey, type ResetRequests, settledReset, wasErased } from '../../src/enrollment/key-reset.ts';
import type { NumberedKey } from '../../src/enrollment/registry.ts';
import { startOkta } from '../support/issuing-providers.ts';
import { issuingBy } from './issuing.ts';
import { type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
const { plugged, provider } = issuingBy(() => daemon);
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--webhook-allow', '127.0.0.1'] });
});
afterAll(() => discard(daemon));

/** A key that is issued at two providers. */
async function issuedKey(name: string, options: Parameters<typeof plugged>[1] = {}) {
  const [company, okta] = [await provider(`company-${name}`), await provider(`okta-${name}`, startOkta)];
  const key = await plugged(`RESET-${name}`, options);
  const names = `company-${name},okta-${name}`;
  expect(await key.issue(names, '481516')).toMatchObject({ code: 0 });
  const accepted = () => [company.accepted.length, okta.accepted.length];
  const reset = (pin = '108816', at = names) => key.issue(at, pin, '--reset', '--yes');
  const recorded = () => daemon.call('GET', `/api/devices/${key.deviceId}/reset`);
  return { ...key, company, okta, names, accepted, reset, recorded };
}

/** Everything is as before: the PIN, the credentials on the key, and those at the providers. */
function expectKept(key: Awaited<ReturnType<typeof issuedKey>>): void {
  expect([key.authenticator.isPin('481516'), key.authenticator.credentials.length]).toEqual([true, 2]);
  expect(key.accepted()).toEqual([1, 1]);
}

test('a key that refuses its reset keeps its PIN, its credentials, and those at the providers', async () => {
  const key = await issuedKey('1');
  key.authenticator.age();
  expect(await key.reset()).toMatchObject({ code: 10, stderr: expect.stringContaining('10 seconds') });
  expectKept(key);
  expect(await key.recorded()).toMatchObject({ begunAt: null, pending: 0 });
  expect((await key.issue(key.names, '481516')).stdout).toContain('was already issued');
});

test('a key that is not touched keeps everything', async () => {
  const key = await issuedKey('2');
  const answer = key.authenticator.cbor.bind(key.authenticator);
  const timedOut = Buffer.of(0x2f);
  key.authenticator.cbor = request => (request[0] === 7 ? timedOut : answer(request));
  expect(await key.reset()).toMatchObject({ code: 10, stderr: expect.stringContaining('not touched') });
  expectKept(key);
  expect(await key.recorded()).toMatchObject({ begunAt: null });
});

test('a key that was plugged in more than 10 seconds ago is not erased, although its firmware would accept that', async () => {
  const key = await issuedKey('3');
  key.wait(10_000);
  expect(await key.reset()).toMatchObject({ code: 10, stderr: expect.stringContaining('plug it in') });
  expectKept(key);
  expect(key.authenticator.commands).not.toContain('07');
  await key.replug();
  expect(await key.reset()).toMatchObject({ code: 0 });
});

test('a key that was plugged in before the station started is not erased', async () => {
  const key = await issuedKey('4', { isFresh: false });
  expect(await key.reset()).toMatchObject({ code: 10 });
  expectKept(key);
});

test('all providers lose the credentials of a key that was erased, also those at which it is not issued again', async () => {
  const key = await issuedKey('5');
  const done = await key.reset('108816', 'okta-5');
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('removes 2 credentials') });
  await expect.poll(key.accepted).toEqual([0, 1]);
  expect(key.authenticator.isPin('108816')).toBe(true);
  expect((await daemon.run(['daemon', 'audit', '--verify'])).code).toBe(0);
});

test('a command that ended between the reset and its record is continued by the next one, which asks the key', async () => {
  const key = await issuedKey('6');
  await daemon.call('POST', `/api/devices/${key.deviceId}/reset`, { stage: 'begun', hadPin: true });
  key.authenticator.cbor(Uint8Array.of(7));
  const listed = await daemon.call('GET', `/api/devices/${key.deviceId}/credentials`);
  expect(listed).toMatchObject([{ removedAt: null }, { removedAt: null }]);
  expect(key.authenticator.hasPin).toBe(false);
  expect(await key.issue(key.names, '108816')).toMatchObject({ code: 0 });
  expect(await key.recorded()).toMatchObject({ begunAt: null });
  await expect.poll(key.accepted).toEqual([1, 1]);
  const [first] = key.company.accepted;
  expect(key.authenticator.credentials.map(({ id }) => id.toString('base64url'))).toContain(first!.credentialId);
});

test('no credential is begun while the outcome of a reset is not recorded, and an earlier one is not begun over', async () => {
  const key = await issuedKey('7');
  const path = `/api/devices/${key.deviceId}/reset`;
  expect(await daemon.call('POST', path, { stage: 'begun', hadPin: true })).toMatchObject({
    hadPin: true,
    credentials: [{ site: 'login.microsoft.com' }, { site: 'localhost' }],
  });
  await expect(daemon.call('POST', path, { stage: 'begun', hadPin: false })).rejects.toThrow('begun before');
  const [{ providerId, reset }] = await daemon.call('GET', `/api/devices/${key.deviceId}/credentials`);
  expect(reset).toBe(true);
  const begin = daemon.call('POST', `/api/devices/${key.deviceId}/credentials`, { providerId });
  await expect(begin).rejects.toThrow('reset of this key');
  // The key has its PIN: it was not erased.
  expect((await key.issue(key.names, '481516')).stdout).toContain('was already issued');
  expect(await key.recorded()).toMatchObject({ begunAt: null });
  expectKept(key);
});

test('a key that leaves open whether an earlier reset has erased it can be reset', async () => {
  const stages: string[] = [];
  const open = { deviceId: 'DEV-1', begunAt: '2026-11-29T00:00:00Z', hadPin: false, credentials: [], pending: 0 };
  const requests: ResetRequests = {
    step: async (_key, { step }) => {
      stages.push(step);
      return { problem: null, state: null } as Awaited<ReturnType<ResetRequests['step']>>;
    },
    prove: async () => {
      stages.push('prove');
      return null;
    },
    reset: async () => open,
    recordReset: async (_deviceId, { stage }) => {
      stages.push(stage);
      return { ...open, begunAt: null };
    },
  };
  const key = { serialNumber: 'SN-1' } as NumberedKey;
  expect(await askedReset(requests, key, 'DEV-1')).toBe('not known');
  await expect(settledReset(requests, key, 'DEV-1')).rejects.toThrow('reset it again');
  await eraseKey(requests, key, 'DEV-1', true);
  expect(stages).toEqual(['state', 'state', 'state', 'reset', 'done']);
});

test.each([
  [{ hadPin: true, hasPin: true, hasAny: false }, false],
  [{ hadPin: true, hasPin: true, hasAny: null }, false],
  [{ hadPin: true, hasPin: true, hasAny: true }, false],
  [{ hadPin: true, hasPin: false, hasAny: false }, true],
  [{ hadPin: true, hasPin: false, hasAny: null }, true],
  [{ hadPin: true, hasPin: false, hasAny: true }, false],
  [{ hadPin: false, hasPin: false, hasAny: true }, false],
  [{ hadPin: false, hasPin: false, hasAny: false }, true],
  [{ hadPin: false, hasPin: false, hasAny: null }, null],
  [{ hadPin: false, hasPin: true, hasAny: false }, true],
  [{ hadPin: false, hasPin: true, hasAny: true }, false],
  [{ hadPin: false, hasPin: true, hasAny: null }, null],
] as const)('a key with %o was erased: %s', (report, isErased) => {
  expect(wasErased(report)).toBe(isErased);
});

/**
 * Two keys with one serial number, enrolled without a proof: what the first one has reported, or was issued, shows that the second
 * is another key.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { ANSWERING_AAGUID } from '../support/challenged.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import type { FakeHid, FakeKey } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { IssuableAuthenticator } from '../support/issuable-authenticator.ts';
import { startEntra } from '../support/issuing-providers.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';
import { devmgr } from './program.ts';
import { RosterReader } from './roster-station.ts';

const system = (await vi.hoisted(async () => {
  const { FakeHid } = await import('../support/fake-hid.ts');
  return new FakeHid();
})) as FakeHid;
vi.mock('../../daemon/hardware/drivers.ts', async () => {
  const { createHidDriver } = await import('../../drivers/hid/index.ts');
  return { createDrivers: () => [createHidDriver({ system })] };
});

const daemon = daemonOfTests({ hardware: true, webhookAllow: ['127.0.0.1'] });
const stations = new RosterReader(createSimulatedDriver({ count: 0, now: Date.now }), () => daemon);
const root = authenticatorRoot('Test root of constant serials');
const authenticatorOf = (aaguid = ANSWERING_AAGUID) => new IssuableAuthenticator({ root, aaguid });
let plugged: number | null = null;
const unplug = () => {
  if (plugged !== null) system.unplug(plugged);
  plugged = null;
};
afterEach(unplug);

/** Only one key is attached at a time. */
function plug(serial: string, authenticator: IssuableAuthenticator | null, more: FakeKey = {}): void {
  unplug();
  authenticator?.replug();
  const fido = authenticator && new FidoKey({ authenticator, touched: true, issued: true });
  plugged = system.plug({ serial, ...(fido ? { interfaces: { fido } } : {}), ...more });
}

const words = (user: string, more: readonly string[]) => [
  '--count',
  '1',
  '--timeout',
  '30',
  '--activate-for',
  user,
  '--json',
  ...more,
];
const enroll = (user: string, ...more: string[]) => stations.station(null).run(...words(user, more));
/** A key that is refused does not count: the run is ended once its row is there. */
async function expectRefused(reason: RegExp, user: string, ...more: string[]): Promise<void> {
  const run = stations.station(null).start(...words(user, more));
  await run.until('stdout', reason);
  run.child.kill('SIGINT');
  expect((await run.ended).rows).toMatchObject([{ result: 'failed', message: expect.stringMatching(reason) }]);
}
const command = (...words: string[]) =>
  devmgr([...words, '--server', daemon.url], { env: { DEVMGR_TOKEN: daemon.adminToken } });
/** Claims are read after a key was plugged in: a loaded machine can need longer for it than a command waits. */
const expectClaims = () =>
  expect
    .poll(async () => JSON.parse((await command('keys', '--json')).stdout).list, { timeout: 20_000 })
    .toMatchObject([{ claims: { aaguid: expect.any(String) } }]);
const deviceOf = async (serial: string) => {
  const { list } = (await daemon.call('GET', `/api/devices/list?serialNumber=${serial}`)).data;
  return (await daemon.call('GET', `/api/devices/${list[0].deviceId}`)).data;
};

test('the AAGUID that a key claims is recorded when it is enrolled, and a key with another one is another key', async () => {
  plug('CONST-1', authenticatorOf());
  await expectClaims();
  expect(await enroll('ann.const')).toMatchObject({ code: 0, rows: [{ result: 'registered' }] });
  expect((await deviceOf('CONST-1')).proof).toMatchObject({
    grade: 'claimed',
    method: 'claims',
    aaguid: ANSWERING_AAGUID,
  });
  plug('CONST-1', authenticatorOf('00000000-1111-2222-3333-444444444444'));
  await expectClaims();
  await expectRefused(/its AAGUID is 00000000-1111-.*Register it under/, 'ann.const');
});

test('the product that a key reports is recorded, not the one that a person has written', async () => {
  plug('CONST-2', null, { product: 'Token One 1.2.0' });
  expect(await enroll('ben.const', '--model', 'Ours')).toMatchObject({ code: 0 });
  expect(await deviceOf('CONST-2')).toMatchObject({ model: 'Ours', proof: { model: 'Feitian Token One 1.2.0' } });
  plug('CONST-2', null, { product: 'Token One 1.3.0' });
  expect(await enroll('ben.const')).toMatchObject({ rows: [{ result: 'known' }] });
  plug('CONST-2', null, { product: 'Token Two' });
  await expectRefused(/its model is .*Token Two, and that of the device is/, 'ben.const');
});

test('a key of the same model that has none of the credentials of the device was erased, or is another one', async () => {
  const { state, settings } = await startEntra();
  state.userVerification = 'discouraged';
  await daemon.call('POST', '/api/providers', { name: 'company', ...settings });
  const [first, second] = [authenticatorOf(), authenticatorOf()];
  const issue = ['--for', 'company', '--pin', 'none'];
  plug('CONST-3', first);
  expect(await enroll('cora.const', ...issue)).toMatchObject({ code: 0 });
  plug('CONST-3', first);
  expect(await enroll('cora.const', ...issue)).toMatchObject({ code: 0, rows: [{ result: 'known' }] });
  plug('CONST-3', second);
  const reason = /none of the credentials of DEV-\d+ \(CRD-\d+\): the key was erased, or it is another key.*--reset/;
  await expectRefused(reason, 'cora.const', ...issue);
  for (const words of [
    ['keys', 'issue', ...issue],
    ['keys', 'verify'],
  ])
    expect(await command(...words)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/none of the credentials/),
    });
  expect([state.accepted.length, second.credentials]).toEqual([1, []]);
  plug('CONST-3', second);
  await expectClaims();
  expect(await command('keys', 'issue', ...issue, '--reset', '--yes')).toMatchObject({ code: 0 });
  expect(second.credentials).toHaveLength(1);
});

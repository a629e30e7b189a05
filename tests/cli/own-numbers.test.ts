/** Keys that report no serial number, or one that other keys have as well: enrolled with a credential, and recognized by it everywhere. */
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import type { FakeHid } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { IssuableAuthenticator } from '../support/issuable-authenticator.ts';
import { startEntra } from '../support/issuing-providers.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';
import { pemOf } from '../support/test-pki.ts';
import { secretFile } from './issuing.ts';
import { devmgr, start, temporaryFolder } from './program.ts';

const system = (await vi.hoisted(async () => {
  const { FakeHid } = await import('../support/fake-hid.ts');
  return new FakeHid();
})) as FakeHid;
vi.mock('../../daemon/hardware/drivers.ts', async () => {
  const { createHidDriver } = await import('../../drivers/hid/index.ts');
  return { createDrivers: () => [createHidDriver({ system })] };
});

const daemon = daemonOfTests({ hardware: true, webhookAllow: ['127.0.0.1'] });
const root = authenticatorRoot('Test root of own numbers');
const AAGUID = 'b93fd961-f2e6-462f-b122-82002247de78';
const newKey = () => new IssuableAuthenticator({ root, aaguid: AAGUID });

let plugged: number | null = null;
afterEach(() => {
  vi.useRealTimers();
  unplug();
});
function unplug(): void {
  if (plugged !== null) system.unplug(plugged);
  plugged = null;
}
/** Only one key is attached at a time. */
function plug(authenticator: IssuableAuthenticator, serial: string | null = null): FidoKey {
  unplug();
  authenticator.replug();
  const fido = new FidoKey({ authenticator, touched: true, issued: true });
  plugged = system.plug({ serial, interfaces: { fido } });
  return fido;
}

const run = async (...words: string[]) => {
  const { code, stdout, stderr } = await devmgr([...words, '--server', daemon.url], {
    env: { DEVMGR_TOKEN: daemon.adminToken },
  });
  return { code, stdout, stderr };
};
const enroll = (...more: string[]) => run('enroll', '--count', '1', '--timeout', '5', '--json', ...more);
const rowsOf = ({ stdout }: { readonly stdout: string }) =>
  stdout
    .trim()
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line));
const attached = async () => {
  await expect
    .poll(async () => JSON.parse((await run('keys', '--json')).stdout).list, { timeout: 10_000 })
    .toHaveLength(1);
  return JSON.parse((await run('keys', '--json')).stdout).list[0];
};
const deviceOf = async (serial: string) => {
  const { list } = (await daemon.call('GET', `/api/devices/list?serialNumber=${serial}`)).data;
  return (await daemon.call('GET', `/api/devices/${list[0].deviceId}`)).data;
};

test('a key without a serial number is enrolled by its printed number, and recognized without a touch by each command', async () => {
  const [key, other] = [newKey(), newKey()];
  plug(key);
  const enrolled = await enroll('--printed', 'SK-0001', '--activate-for', 'ann');
  expect(rowsOf(enrolled)).toMatchObject([{ result: 'registered', serialNumber: 'SK-0001', status: 'ACTIVE' }]);
  const device = await deviceOf('SK-0001');
  expect(device).toMatchObject({ identity: 'credential', serialNumber: 'SK-0001' });
  plug(other);
  expect(await attached()).toMatchObject({ serialNumber: null, device: null });
  plug(key);
  expect(await attached()).toMatchObject({
    serialNumber: 'SK-0001',
    serialSource: 'credential',
    device: { deviceId: device.deviceId, status: 'ACTIVE' },
    problem: null,
  });
  plug(key);
  expect(rowsOf(await enroll())).toMatchObject([{ result: 'known', deviceId: device.deviceId }]);
  plug(key);
  await attached();
  expect(await run('lock', '--plugged', '--reason', 'test')).toMatchObject({ code: 0 });
  expect((await deviceOf('SK-0001')).status).toBe('LOCKED');
  plug(key);
  await attached();
  expect((await run('verify')).stdout).toMatch(/SK-0001[\s\S]*DEV-/);
  plug(other);
  await attached();
  expect(await run('lock', '--plugged', '--reason', 'test')).toMatchObject({
    code: 10,
    stderr: expect.stringMatching(/no readable serial number/),
  });
});

test('the first command after a key was plugged in shows its device', async () => {
  const key = newKey();
  plug(key);
  await enroll('--printed', 'SK-0005');
  unplug();
  const listed = async () => JSON.parse((await run('keys', '--json')).stdout).list;
  await expect.poll(listed, { timeout: 10_000 }).toEqual([]);
  plug(key);
  const list = await vi.waitFor(
    async () => {
      const found = await listed();
      if (found.length === 0) throw new Error('the key is not listed');
      return found;
    },
    { timeout: 10_000 },
  );
  expect(list).toMatchObject([{ serialNumber: 'SK-0005', device: { status: 'INACTIVE' } }]);
});

test('a printed number that another key has is refused, and one of a device that was registered by hand gets the credential', async () => {
  const [key, other] = [newKey(), newKey()];
  plug(key);
  expect(rowsOf(await enroll('--printed', 'SK-0002'))).toMatchObject([{ result: 'registered' }]);
  plug(other);
  const refused = await enroll('--printed', 'SK-0002');
  expect(rowsOf(refused)).toMatchObject([
    { result: 'failed', message: expect.stringMatching(/is the number of DEV-\d+/) },
  ]);
  expect(
    await run('register', '--type', 'UKEY', '--serial', 'SK-0003', '--manufacturer', 'M', '--model', 'K'),
  ).toMatchObject({
    code: 0,
  });
  plug(other);
  expect(rowsOf(await enroll('--printed', 'SK-0003'))).toMatchObject([{ result: 'known', serialNumber: 'SK-0003' }]);
  expect((await deviceOf('SK-0003')).identity).toBe('credential');
  plug(other);
  expect(await attached()).toMatchObject({ serialNumber: 'SK-0003' });
});

test('a key without any number gets one from the registry', async () => {
  const key = newKey();
  plug(key);
  const [row] = rowsOf(await enroll('--number', 'auto'));
  expect(row).toMatchObject({ result: 'registered', serialNumber: expect.stringMatching(/^DM-\w{5}-\w{5}$/) });
  plug(key);
  expect(await attached()).toMatchObject({ serialNumber: row.serialNumber });
});

test('a key that was numbered is not reported again when the registry recognizes it while it stays attached', async () => {
  const [first, second] = [newKey(), newKey()];
  const enrolling = start(['enroll', '--number', 'auto', '--server', daemon.url], {
    env: { DEVMGR_TOKEN: daemon.adminToken },
  });
  await enrolling.until('stderr', /Plug in/);
  plug(first);
  await enrolling.until('stdout', /registered[\s\S]*activation code.*\n/);
  expect((await attached()).serialNumber).toMatch(/^DM-/);
  plug(second);
  await enrolling.until('stdout', /registered[\s\S]*registered[\s\S]*activation code.*\n/);
  plug(first);
  await enrolling.until('stderr', /again: it is DEV-/);
  enrolling.child.kill('SIGINT');
  expect((await enrolling.ended).stderr.match(/again: it is/g)).toHaveLength(1);
});

test('a key that was reset elsewhere is bound again only if an ADMIN confirms it', async () => {
  const key = newKey();
  plug(key);
  await enroll('--printed', 'SK-0005');
  key.reset();
  plug(key);
  expect(await attached()).toMatchObject({ serialNumber: null });
  expect(rowsOf(await enroll('--printed', 'SK-0005'))).toMatchObject([{ result: 'failed' }]);
  plug(key);
  expect(rowsOf(await enroll('--printed', 'SK-0005', '--was-reset'))).toMatchObject([{ result: 'known' }]);
  plug(key);
  expect(await attached()).toMatchObject({ serialNumber: 'SK-0005' });
});

test('a key with a copied serial number is refused at each command', async () => {
  expect(await run('policies', 'update', '--identity', 'required')).toMatchObject({ code: 0 });
  const [key, copy] = [newKey(), newKey()];
  plug(key, 'CC-0001');
  expect(rowsOf(await enroll('--activate-for', 'bea'))).toMatchObject([
    { result: 'registered', serialNumber: 'CC-0001' },
  ]);
  expect((await deviceOf('CC-0001')).identity).toBe('credential');
  plug(key, 'CC-0001');
  expect(rowsOf(await enroll())).toMatchObject([{ result: 'known' }]);
  const lacks = /lacks the credential of DEV-\d+/;
  plug(copy, 'CC-0001');
  expect(rowsOf(await enroll())).toMatchObject([{ result: 'failed', message: expect.stringMatching(lacks) }]);
  await attached();
  for (const words of [['verify'], ['lock', '--plugged', '--reason', 'test'], ['receipt', 'make']])
    expect(await run(...words), words[0]).toMatchObject({ stderr: expect.stringMatching(lacks) });
  expect((await deviceOf('CC-0001')).status).toBe('ACTIVE');
  // An ADMIN may say that it is the same key after a reset elsewhere. Then the first one is the other key.
  plug(copy, 'CC-0001');
  expect(rowsOf(await enroll('--printed', 'CC-0001', '--was-reset'))).toMatchObject([{ result: 'known' }]);
  plug(copy, 'CC-0001');
  expect(rowsOf(await enroll())).toMatchObject([{ result: 'known' }]);
  plug(key, 'CC-0001');
  expect(rowsOf(await enroll())).toMatchObject([{ result: 'failed', message: expect.stringMatching(lacks) }]);
});

test('a script that names no number does not enroll such a key, and one number is that of one key', async () => {
  plug(newKey());
  expect(rowsOf(await enroll())).toMatchObject([
    { result: 'failed', message: expect.stringMatching(/no readable serial/) },
  ]);
  expect(await run('enroll', '--printed', 'SK-9')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--count 1'),
  });
});

/** Requests for which a key is touched: `up` is not false. */
const touchesOf = ({ received }: FidoKey) =>
  received.filter(message => /^100[12]/.test(message) && !message.includes('627570f4'));
const jsonOf = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout);

test('a key of a maker that is not trusted signs receipts by the credential by which it is recognized, with one touch', async () => {
  const key = newKey();
  plug(key);
  await enroll('--printed', 'SK-0010', '--activate-for', 'ann');
  const fido = plug(key);
  await attached();
  const signed = jsonOf(await run('receipts', 'add', '--json'));
  expect(signed).toMatchObject({
    serialNumber: 'SK-0010',
    kind: 'handover',
    proof: { grade: 'claimed', proofId: null },
  });
  expect(signed.relyingParty).toBe(`${signed.registryId}.devmgr.invalid`);
  expect(touchesOf(fido)).toHaveLength(1);
  const file = secretFile(JSON.stringify(signed));
  expect(await run('receipts', 'verify', file)).toMatchObject({ code: 0 });
  const forged = secretFile(JSON.stringify({ ...signed, relyingParty: 'devmgr.invalid' }));
  expect(await run('receipts', 'verify', forged)).toMatchObject({ code: 6 });
  expect(await run('receipts', 'add', '--kind', 'return')).toMatchObject({ code: 0 });
  key.reset();
  plug(key);
  await attached();
  expect(await run('receipts', 'add', '--kind', 'return')).toMatchObject({ code: 10 });
});

test('a key that can sign no receipt is reported before the touch', async () => {
  expect(await run('policies', 'update', '--identity', 'where-needed')).toMatchObject({ code: 0 });
  const key = newKey();
  const fido = plug(key, 'RN-0001');
  expect(rowsOf(await enroll('--activate-for', 'ann'))).toMatchObject([{ result: 'registered' }]);
  expect(await run('receipts', 'add')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/trusts no maker of FIDO keys[\s\S]*--identity required/),
  });
  expect(touchesOf(fido)).toEqual([]);
});

test.each([
  ['has U2F', true, 'SK-0013'],
  ['got its PIN after it was enrolled', false, 'SK-0014'],
])(
  'a key that wants its PIN for every registration and %s signs receipts, with one touch',
  async (_what, u2f, serial) => {
    const key = new IssuableAuthenticator({ root, aaguid: AAGUID, ctap21: false, u2f });
    if (u2f) key.givePin('481516');
    plug(key);
    expect(rowsOf(await enroll('--printed', serial, '--activate-for', 'ann'))).toMatchObject([
      { result: 'registered' },
    ]);
    key.givePin('481516');
    const fido = plug(key);
    await attached();
    const signed = jsonOf(await run('receipts', 'add', '--json'));
    expect(signed).toMatchObject({ serialNumber: serial, proof: { grade: 'claimed' } });
    expect(touchesOf(fido)).toHaveLength(1);
  },
);

test('a key that wants its PIN for every registration or signature is reported before the touch', async () => {
  const maker = authenticatorRoot('Test root of keys with a PIN');
  await run('trust', 'add', secretFile(pemOf(maker)), '--aaguid', AAGUID, '--label', 'Maker');
  const [{ fingerprint }] = jsonOf(await run('trust', 'list', '--json')).certificates;
  onTestFinished(async () => expect(await run('trust', 'remove', fingerprint)).toMatchObject({ code: 0 }));
  const known = { root: maker, aaguid: AAGUID, u2f: false };
  const keys = [
    new IssuableAuthenticator({ ...known, ctap21: false }),
    new IssuableAuthenticator({ ...known, alwaysUv: true }),
  ];
  for (const [index, key] of keys.entries()) {
    key.givePin('481516');
    const without = plug(key);
    expect(rowsOf(await enroll('--printed', `SK-004${index}`))).toMatchObject([
      { result: 'failed', message: expect.stringMatching(/requires a PIN for every registration/) },
    ]);
    expect(touchesOf(without)).toEqual([]);
    const fido = plug(key, `RN-001${index}`);
    expect(rowsOf(await enroll('--activate-for', 'ann'))).toMatchObject([{ result: 'registered' }]);
    const refused = await run('receipts', 'add');
    expect(refused).toMatchObject({ code: 10, stderr: expect.stringMatching(/requires a PIN for every registration/) });
    expect(touchesOf(fido)).toEqual([]);
  }
});

test('a key is issued and erased only after it has proved, with a touch, that it is the device', async () => {
  const [key, other] = [newKey(), newKey()];
  plug(key);
  await enroll('--printed', 'SK-0011', '--activate-for', 'ann');
  const { settings } = await startEntra();
  expect(await daemon.call('POST', '/api/providers', { name: 'company', ...settings })).toMatchObject({ code: 200 });
  const issue = (...more: string[]) =>
    run('keys', 'issue', '--for', 'company', '--pin-file', secretFile('271828'), ...more);
  // From then on, the registry does not take the credential itself for a signature.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 60_000, shouldAdvanceTime: true });
  plug(key);
  await attached();
  expect(await issue()).toMatchObject({ code: 0 });
  const { identityProvedAt, deviceId } = await deviceOf('SK-0011');
  expect(identityProvedAt).not.toBeNull();
  // Another key that reports the serial number.
  plug(other, 'SK-0011');
  await attached();
  const refused = await issue('--reset', '--yes');
  expect(refused).toMatchObject({ code: 10, stderr: expect.stringContaining(`has not proved that it is ${deviceId}`) });
  expect(other.hasPin).toBe(false);
  plug(key);
  await attached();
  expect(await issue('--reset', '--yes')).toMatchObject({ code: 0 });
  expect(await deviceOf('SK-0011')).toMatchObject({ identity: 'none' });
});

test('while the registry is away, a key without a serial number explains why it is not recognized, and waits under its printed number', async () => {
  plug(newKey());
  const home = temporaryFolder();
  await devmgr(['login', 'admin', '--password-stdin', '--server', daemon.url], { home, input: adminPassword });
  const away = (...more: string[]) => {
    const there = ['--server', 'http://127.0.0.1:1', '--hardware', daemon.url];
    const spool = ['--spool', join(temporaryFolder(), 'keys.spool'), '--count', '1', '--timeout', '5', '--json'];
    return devmgr(['enroll', ...spool, ...there, ...more], { home, env: { DEVMGR_TOKEN: daemon.adminToken } });
  };
  const without = await away();
  expect(rowsOf(without)).toMatchObject([
    { result: 'failed', message: expect.stringMatching(/the registry, which recognizes it .* is away.*printed on it/) },
  ]);
  const named = await away('--printed', 'SK-0050');
  expect(rowsOf(named)).toMatchObject([{ result: 'spooled', serialNumber: 'SK-0050' }]);
});

test('a key that is one device by its credential and another by its serial number is stopped at each command, and both are named', async () => {
  const key = newKey();
  plug(key);
  const [{ deviceId: own }] = rowsOf(await enroll('--printed', 'SK-0020', '--activate-for', 'ann'));
  plug(newKey(), 'CC-0020');
  const [{ deviceId: copied }] = rowsOf(await enroll('--activate-for', 'bea'));
  const both = new RegExp(`it is ${own} by its credential, and reports the serial number CC-0020 of ${copied}`);
  const roster = secretFile('userId\nbea');
  plug(key, 'CC-0020');
  for (const more of [
    ['--count', '1'],
    ['--count', '1', '--activate-for', 'bea'],
    ['--roster', roster],
  ])
    expect(rowsOf(await run('enroll', '--timeout', '5', '--json', ...more)), more.at(-1)).toMatchObject([
      { result: 'failed', message: expect.stringMatching(both) },
    ]);
  const issue = ['keys', 'issue', '--provider', 'company', '--pin', 'none'];
  const others = [
    ['verify'],
    ['lock', '--plugged', '--reason', 'test'],
    ['receipts', 'add'],
    issue,
    [...issue, '--reset', '--yes'],
  ];
  for (const words of others)
    expect(await run(...words), words[0]).toMatchObject({ stderr: expect.stringMatching(both) });
  expect((await deviceOf('CC-0020')).status).toBe('ACTIVE');
  plug(key, 'CC-0021');
  const isEnrolled = new RegExp(`is not registered, and it is ${own} \\(SK-0020\\) by its credential`);
  expect(rowsOf(await enroll())).toMatchObject([{ result: 'failed', message: expect.stringMatching(isEnrolled) }]);
  expect(await run('verify')).toMatchObject({ stderr: expect.stringMatching(isEnrolled) });
});

test('a roster has printed numbers, and a spool file takes such keys', async () => {
  const key = newKey();
  const fido = plug(key);
  const roster = secretFile('userId,printedNumber\nrose,SK-0030');
  const line = start(['enroll', '--roster', roster, '--timeout', '30', '--server', daemon.url], {
    env: { DEVMGR_TOKEN: daemon.adminToken },
  });
  await line.until('stderr', /unplug/);
  expect(touchesOf(fido)).toHaveLength(1);
  unplug();
  await line.until('stdout', /bound {2}rose/);
  expect(await line.ended).toMatchObject({ code: 0 });
  const bound = { identity: 'credential', userId: 'rose', status: 'ACTIVE' };
  expect(await deviceOf('SK-0030')).toMatchObject(bound);
  const spool = ['--spool', join(temporaryFolder(), 'keys.spool')];
  plug(newKey());
  expect(rowsOf(await enroll('--printed', 'SK-0031', ...spool))).toMatchObject([{ result: 'registered' }]);
  expect(await deviceOf('SK-0031')).toMatchObject({ identity: 'credential' });
  plug(newKey());
  expect(rowsOf(await enroll('--number', 'auto', ...spool))).toMatchObject([
    { result: 'registered', serialNumber: expect.stringMatching(/^DM-\w{5}-\w{5}$/) },
  ]);
});

test('watch shows a key again under the number of its device, once a command has recognized it', async () => {
  const key = newKey();
  plug(key);
  await enroll('--printed', 'SK-0040');
  unplug();
  const watching = start(['watch', '--server', daemon.url], { env: { DEVMGR_TOKEN: daemon.adminToken } });
  await watching.until('stderr', /connected/);
  plug(key);
  await attached();
  await watching.until('stdout', /SK-0040 /);
});

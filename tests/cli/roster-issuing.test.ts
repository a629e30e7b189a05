/**
 * `enroll --roster --for` and `--receipt`: each person of a roster gets a key that is ready to sign in, and signs for it. The
 * provider is a stand-in: see its file.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import Database from 'better-sqlite3';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { ANSWERING_AAGUID } from '../support/challenged.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import type { FakeHid } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { activation, data, register } from '../support/fleet.ts';
import { closedAddress } from '../support/http-servers.ts';
import { IssuableAuthenticator } from '../support/issuable-authenticator.ts';
import { startEntra } from '../support/issuing-providers.ts';
import { trustReceiptKeys } from '../support/receipt-key.ts';
import { scimClient } from '../support/scim.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';
import { secretFile } from './issuing.ts';
import { devmgr } from './program.ts';
import { RosterReader } from './roster-station.ts';
import { keys } from './screen.ts';

const system = (await vi.hoisted(async () => {
  const { FakeHid } = await import('../support/fake-hid.ts');
  return new FakeHid();
})) as FakeHid;
vi.mock('../../daemon/hardware/drivers.ts', async () => {
  const { createHidDriver } = await import('../../drivers/hid/index.ts');
  return { createDrivers: () => [createHidDriver({ system })] };
});

const daemon = daemonOfTests({ hardware: true, webhookAllow: ['127.0.0.1'] });
/** Only for its stations: the keys of this file are authenticators. */
const reader = new RosterReader(createSimulatedDriver({ count: 0, now: Date.now }), () => daemon);
const plugged = new Set<number>();
const unplug = () => {
  for (const address of plugged) system.unplug(address);
  plugged.clear();
};
afterEach(unplug);

const root = authenticatorRoot('Test root of rosters');
/** A key of its own. */
function key(serial: string, of = root) {
  const authenticator = new IssuableAuthenticator({ root: of, aaguid: ANSWERING_AAGUID });
  /** `touched`: false if it waits for a touch. */
  const plug = (touched = true) => {
    authenticator.replug();
    const fido = new FidoKey({ authenticator, touched, issued: true });
    plugged.add(system.plug({ serial, interfaces: { fido } }));
    return fido;
  };
  return { authenticator, plug };
}

/** A provider under a name. */
async function provider(name: string) {
  const { state, settings } = await startEntra();
  await daemon.call('POST', '/api/providers', { name, ...settings });
  return state;
}

test('a row is done when its key is issued for its person, and a later run continues', async () => {
  const company = await provider('company');
  const { out, run, start } = reader.station('userId\nann.issue\nben.issue\n');
  const words = ['--for', 'company', '--pin', 'none', '--out', out];
  company.userVerification = 'discouraged';
  company.trouble('options', 'refused');
  const first = key('ROSTER-1');
  const begun = start(...words);
  await begun.until('stderr', /ann\.issue\n +plug in a key/);
  first.plug();
  await begun.until('stderr', /not issued at company.*Plug it in again[\s\S]*ann\.issue still needs a key/);
  // A key that was begun continues for its person, in this run.
  unplug();
  first.plug();
  await begun.until('stdout', /bound {2}ann\.issue/);
  begun.child.kill('SIGINT');
  await begun.ended;
  const rows = readFileSync(out, 'utf8').split('\n');
  expect(rows.slice(1, 3)).toEqual([
    expect.stringMatching(/^failed,.*,missing,not issued,/),
    expect.stringMatching(/^known,.*ann\.issue.*,issued,,/),
  ]);

  unplug();
  const second = key('ROSTER-2');
  const continued = start(...words);
  await continued.until('stderr', /ben\.issue\n +plug in a key/);
  second.plug();
  expect((await continued.ended).code).toBe(0);
  expect(company.accepted.map(({ person }) => person)).toEqual(['ann.issue', 'ben.issue']);
  expect(await run(...words)).toMatchObject({ code: 0, stdout: '' });
  const file = ['--pin-file', secretFile('271828')];
  expect(await run('--for', 'company', ...file)).toMatchObject({ code: 2 });
});

test('a key that one of two providers has is named by the next run, and its person gets no other key before it', async () => {
  const [alpha, beta] = [await provider('alpha'), await provider('beta')];
  for (const one of [alpha, beta]) one.userVerification = 'discouraged';
  const { out, start, run } = reader.station('userId\nann.two\nben.two\n');
  const words = ['--for', 'alpha,beta', '--pin', 'none', '--out', out];
  beta.trouble('finish', 'refused');
  const begun = start(...words);
  await begun.until('stderr', /ann\.two\n +plug in a key/);
  const [first, other] = [key('TWO-1'), key('TWO-2')];
  first.plug();
  await begun.until('stderr', /not issued at beta/);
  // In the same run as well.
  unplug();
  other.plug();
  await begun.until(
    'stderr',
    /has another key\n.*unfinished key: DEV-\d+, TWO-1 of ann\.two, issued at\s+alpha, missing at beta/,
  );
  begun.child.kill('SIGINT');
  expect((await begun.ended).stderr).toMatch(
    /1 key is unfinished: DEV-\d+, TWO-1 of ann\.two, issued at alpha, missing at beta/,
  );

  unplug();
  const next = start(...words);
  await next.until(
    'stderr',
    /1 key is unfinished: DEV-\d+, TWO-1 of ann\.two, issued at alpha, missing at beta\. Plug it in/,
  );
  other.plug();
  await next.until('stderr', /has another key[\s\S]*ann\.two still needs a key/);
  unplug();
  const json = await run('--json', '--timeout', '1', ...words);
  expect(json.stderr).toContain('another run uses');
  first.plug();
  await next.until('stdout', /bound {2}ann\.two/);
  unplug();
  other.plug();
  expect((await next.ended).code).toBe(0);
  const [ann, ben] = [
    ['ann.two', 'ann.two'],
    ['ben.two', 'ben.two'],
  ];
  expect([alpha, beta].map(({ accepted }) => accepted.map(({ person }) => person))).toEqual([
    [ann[0], ben[0]],
    [ann[1], ben[1]],
  ]);
  expect([...(await reader.holders())].filter(([serial]) => serial.startsWith('TWO-')).sort()).toEqual([
    ['TWO-1', 'ann.two'],
    ['TWO-2', 'ben.two'],
  ]);
});

test('enroll --for names the key in a row, and a script gives another one only with --again', async () => {
  const company = await provider('company-6');
  company.userVerification = 'discouraged';
  const { run } = reader.station(null);
  const words = ['--activate-for', 'eva.two', '--for', 'company-6', '--pin', 'none', '--json', '--timeout', '1'];
  company.trouble('finish', 'refused');
  key('THREE-1').plug();
  expect(await run(...words)).toMatchObject({
    code: 10,
    stderr: expect.stringMatching(/1 key is unfinished: DEV-\d+, THREE-1 of eva\.two, missing at company-6/),
  });
  unplug();
  const other = key('THREE-2');
  other.plug();
  const refused = await run(...words);
  expect(refused.rows).toMatchObject([
    { result: 'failed', serialNumber: 'THREE-1', userId: 'eva.two', message: expect.stringMatching(/^unfinished: /) },
    { result: 'failed', serialNumber: 'THREE-2', deviceId: null, message: expect.stringContaining('--again') },
  ]);
  expect(refused.code).toBe(10);
  expect(await run('--again', '--count', '1', ...words)).toMatchObject({ code: 0 });
  expect(company.accepted.map(({ person }) => person)).toEqual(['eva.two']);
  // It was decided: the first key is not named again.
  expect((await run('--dry-run', '--activate-for', 'eva.two', '--timeout', '1', '--json')).rows).toHaveLength(1);
});

test('at a terminal Enter binds and issues the key, and its PIN is asked for', async () => {
  const company = await provider('company-2');
  const { atTerminal } = reader.station('userId\ncid.issue\n');
  const screen = atTerminal('--for', 'company-2');
  await screen.shows(/Enter binds and issues the key[\s\S]*plug in a key/);
  const { authenticator, plug } = key('ROSTER-3');
  plug();
  await screen.shows(/PASS[\s\S]*press Enter: it will be bound to\s+cid\.issue/);
  screen.type(keys.enter);
  await screen.shows(/New PIN of ROSTER-3/);
  screen.type(`271828${keys.enter}`);
  await screen.shows(/same PIN again/);
  screen.type(`271828${keys.enter}`);
  const { code, stdout } = await screen.ended;
  expect([code, authenticator.isPin('271828'), company.accepted.length]).toEqual([0, true, 1]);
  expect(stdout).not.toContain('271828');
});

test('a letter that is not printed is named with the command that opens its PIN', async () => {
  await provider('company-4');
  const recipients = [await identityToRecipient(await generateIdentity())];
  data(await daemon.call('PUT', '/api/policies/pin', { recipients }));
  const { out, rows, start } = reader.station('userId\ndan.letter\n');
  const printer = (await closedAddress()).replace('http://', '');
  const running = start('--for', 'company-4', '--pin', 'random', '--label', '--printer', printer, '--out', out);
  await running.until('stderr', /dan\.letter\n +plug in a key/);
  key('ROSTER-4').plug();
  const { code, stderr } = await running.ended;
  const [, deviceId] = rows()[0]!.split(',');
  const letter = `devmgr keys letter ${deviceId} --identity-file FILE --printer ${printer}`;
  expect([code, stderr]).toEqual([0, expect.stringContaining(`1 label is not printed. Print it later: ${letter}\n`)]);
  expect(stderr).toMatch(new RegExp(`label: failed: .*Print it later: ${letter}`));
});

/** The receipts of a device, the last one first. */
const receiptsOf = async (serialNumber: string) => {
  const [{ deviceId }] = data(await daemon.call('GET', `/api/devices/list?serialNumber=${serialNumber}`)).list;
  return data(await daemon.call('GET', `/api/receipts/list?deviceId=${deviceId}`)).list;
};

test('a run that was killed before the key had signed is continued, and a key that has signed does not sign again', async () => {
  await trustReceiptKeys(daemon, root);
  const { out, rows, start } = reader.station('userId\numa.signs\n');
  const begin = async (file: string) => {
    const running = start('--receipt', '--terms', 'Mine.', '--out', file);
    await running.until('stderr', /uma\.signs\n +plug in a key/);
    return running;
  };
  const { plug } = key('SIGNED-1');
  const killed = await begin(out);
  await plug(false).asksForTouch();
  killed.child.kill('SIGKILL');
  await killed.ended;
  const holders = await reader.holders();
  expect([rows(), holders.get('SIGNED-1'), await receiptsOf('SIGNED-1')]).toEqual([[], 'uma.signs', []]);
  unplug();
  // As if this run ended before it had written the row to the first file.
  const signing = await begin(`${out}.other.csv`);
  plug();
  expect((await signing.ended).code).toBe(0);
  const [{ receiptId, ...receipt }, ...more] = await receiptsOf('SIGNED-1');
  expect([receipt, more]).toMatchObject([{ kind: 'handover', person: 'uma.signs' }, []]);
  unplug();
  const last = await begin(out);
  const { received } = plug(false);
  expect((await last.ended).code).toBe(0);
  expect(rows()).toEqual([expect.stringContaining(`,${receiptId},,`)]);
  expect(received.filter(message => /^100[12]/.test(message))).toEqual([]);
  // The file has it.
  expect(await start('--receipt', '--out', out).ended).toMatchObject({ code: 0, stdout: '' });
});

test('each person of a group signs for a key that is issued: a key that is not trusted has failed, and continues', async () => {
  const [company, members, scim] = [await provider('company-3'), [] as object[], await scimClient(daemon)];
  const made = await scim('POST', '/Users', { userName: 'vic.signs', active: true });
  members.push({ value: made.body.id });
  await scim('POST', '/Groups', { displayName: 'Signers', members });
  const { out, rows, start } = reader.station(null);
  const other = authenticatorRoot('Other test root of rosters');
  const { plug } = key('SIGNED-2', other);
  const flags = ['--group', 'Signers', '--receipt', '--for', 'company-3', '--pin', 'none', '--out', out];
  company.userVerification = 'discouraged';
  const running = start(...flags);
  await running.until('stderr', /vic\.signs\n +plug in a key/);
  plug();
  await running.until('stderr', /not signed[\s\S]*DEV-\d+ is bound, vic\.signs still/);
  await trustReceiptKeys(daemon, other);
  unplug();
  plug();
  expect((await running.ended).code).toBe(0);
  const [{ receiptId, person }] = await receiptsOf('SIGNED-2');
  expect([person, company.accepted.length]).toEqual(['vic.signs', 1]);
  expect(rows()).toEqual([
    expect.stringMatching(/^failed,.*,issued,,not signed,/),
    expect.stringContaining(`,issued,${receiptId},,`),
  ]);
});

test('a device that is retired because its person has left loses its sealed PIN', async () => {
  const call = async (...request: Parameters<typeof daemon.call>) => (await daemon.call(...request)).data;
  const device = await register(daemon);
  const { personId } = await call('POST', '/api/people', { userName: 'leaver.retired' });
  const { deviceId } = await call('POST', '/api/devices/activate', activation(device, 'leaver.retired'));
  const path = `/api/devices/${deviceId}/pin`;
  await call('POST', path, { sealed: Buffer.from('age-encryption.org/v1\n').toString('base64url') });
  const policy = { personsRequired: false, leavers: 'retire', leaverDelayHours: 0 };
  await call('PUT', '/api/policies/people', policy);
  await call('POST', `/api/people/${personId}/leave`, { reason: 'left' });
  expect(await daemon.call('GET', path)).toMatchObject({ code: 404 });
  const database = new Database(join(daemon.home, 'devmgr.db'), { readonly: true });
  onTestFinished(() => void database.close());
  const stored = database.prepare('SELECT value FROM document WHERE name = ?');
  await expect
    .poll(() => stored.get(`pin:${deviceId.replace('DEV-', '')}`), { timeout: 20_000 })
    .toEqual({ value: 'null' });
});

test('another key with the serial number of a device is neither enrolled nor issued nor verified as that device', async () => {
  await trustReceiptKeys(daemon, root);
  const company = await provider('company-5');
  company.userVerification = 'discouraged';
  const { run } = reader.station(null);
  const flags = ['--count', '1', '--activate-for', 'first.owner'];
  key('SHARED-1').plug();
  expect(await run('--prove', ...flags)).toMatchObject({ code: 0 });
  unplug();
  const authenticator = new IssuableAuthenticator({ root, aaguid: '00000000-1111-2222-3333-444444444444' });
  const fido = new FidoKey({ authenticator, touched: true, issued: true });
  plugged.add(system.plug({ serial: 'SHARED-1', interfaces: { fido } }));
  const words = /another key than DEV-\d+, which has the serial number SHARED-1 as well: its AAGUID is 00000000-1111-/;
  const enrolled = await run('--timeout', '1', '--for', 'company-5', '--pin', 'none', ...flags, '--json');
  expect(enrolled).toMatchObject({ code: 10, rows: [{ result: 'failed', message: expect.stringMatching(words) }] });
  const env = { env: { DEVMGR_TOKEN: daemon.adminToken } };
  for (const command of [
    ['keys', 'issue', '--for', 'company-5', '--pin', 'none'],
    ['keys', 'verify'],
    ['receipts', 'add'],
  ])
    expect(await devmgr([...command, '--server', daemon.url], env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(words),
    });
  expect([company.accepted, authenticator.credentials]).toEqual([[], []]);
});

/** Keys that are registered, bound and issued in one plugging, from the command line. The providers are stand-ins: see their file. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { expectBytes, expectMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { writeCbor } from '../../drivers/protocols/cbor-write.ts';
import { pinBounds } from '../../src/contract/limits.ts';
import { adminPassword } from '../support/daemon.ts';
import { startOkta } from '../support/issuing-providers.ts';
import { labelPrinter, reading } from '../support/label-printer.ts';
import { findTool, needs } from '../support/needs.ts';
import { issuingBy, secretFile } from './issuing.ts';
import { type Daemon, discard, type Finished, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
const { plugged, provider, recipient, unregistered, removeProvider } = issuingBy(() => daemon);
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--webhook-allow', '127.0.0.1'] });
});
afterAll(() => discard(daemon));
// The next test does not continue what a test has left unfinished.
afterEach(() => rmSync(join(daemon.home, 'bindings'), { recursive: true, force: true }));

test('--pin none sets no PIN: a key without one signs in only where the provider does not require user verification', async () => {
  const company = await provider('company-11');
  const { authenticator, station } = await plugged('ISSUE-11');
  const none = ['keys', 'issue', '--for', 'company-11', '--pin', 'none', '--hardware', station];
  expect(await daemon.run(none)).toMatchObject({ code: 10, stderr: expect.stringContaining('--pin random') });
  expect([company.accepted.length, authenticator.credentials.length]).toEqual([0, 0]);
  company.userVerification = 'discouraged';
  expect(await daemon.run(none)).toMatchObject({ code: 0, stdout: expect.stringContaining('ISSUE-11 is issued') });
  expect([company.accepted.length, authenticator.hasPin]).toEqual([1, false]);
});

test('a provider that refuses does not keep the key from the next one', async () => {
  const [company, okta] = [await provider('company-12'), await provider('okta-12', startOkta)];
  const { issue } = await plugged('ISSUE-12');
  company.trouble('finish', 'refused');
  expect((await issue('company-12,okta-12', '481516')).code).toBe(7);
  expect([company.accepted.length, okta.accepted.length]).toEqual([0, 1]);
  expect(await issue('company-12,okta-12', '481516')).toMatchObject({ code: 0 });
});

test('a reset by a DEALER is refused before the key is erased if the registry would lose an earlier PIN', async () => {
  const company = await provider('company-21');
  const { authenticator, deviceId, issue, bodies, station } = await plugged('ISSUE-21');
  expect(await issue('company-21', '481516')).toMatchObject({ code: 0 });
  const sealed = Buffer.from('age-encryption.org/v1\n').toString('base64url');
  for (let stored = 0; stored <= pinBounds.earlier; stored++)
    await daemon.call('POST', `/api/devices/${deviceId}/pin`, { sealed, reset: true });
  await daemon.call('POST', '/api/users', { username: 'dora', role: 'DEALER', password: adminPassword });
  const { token } = await daemon.call('POST', '/api/auth/login', { username: 'dora', password: adminPassword });
  const asDealer = { env: { DEVMGR_TOKEN: token } };
  const erase = ['keys', 'issue', '--for', 'company-21', '--pin-file', secretFile('108816'), '--hardware', station];
  const dealer = await daemon.run([...erase, '--reset', '--yes', '--server', daemon.url], asDealer);
  expect(dealer).toMatchObject({ code: 2, stderr: expect.stringContaining('only an ADMIN can replace one more') });
  expect(bodies.some(({ step }) => step === 'reset')).toBe(false);
  expect([authenticator.isPin('481516'), authenticator.credentials.length, company.accepted.length]).toEqual([
    true,
    1,
    1,
  ]);
  expect((await daemon.call('GET', `/api/devices/${deviceId}/pin`)).earlier).toHaveLength(pinBounds.earlier);
  expect(await issue('company-21', '108816', '--reset', '--yes')).toMatchObject({ code: 0 });
});

test('enroll --for registers a key, binds it, and issues it in one plugging; without --for nothing is issued', async () => {
  const [company, okta] = [await provider('company-13'), await provider('okta-13', startOkta)];
  const { url, authenticator, bodies } = await unregistered('ISSUE-13');
  const plain = ['enroll', '--count', '1', '--activate-for', 'ada.lovelace', '--json', '--hardware', url];
  const results = join(temporaryFolder(), 'results.csv');
  expect((await daemon.run([...plain, '--out', results.replace('csv', 'jsonl')])).code).toBe(0);
  expect(bodies).toEqual([]);
  const issuing = [...plain, '--for', 'company-13,okta-13', '--pin-file', secretFile('271828')];
  const { code, rows } = await daemon.run([...issuing, '--out', results]);
  expect([code, rows]).toMatchObject([0, [{ providers: { 'company-13': 'issued', 'okta-13': 'issued' } }]]);
  expect([authenticator.isPin('271828'), company.accepted.length, okta.accepted.length]).toEqual([true, 1, 1]);
  const [header, row] = readFileSync(results, 'utf8').split('\n');
  expect(header).toContain(',provider:company-13,provider:okta-13,');
  expect(row).toContain(',issued,issued,');
  expect(readFileSync(results, 'utf8')).not.toContain('271828');
  // A file of a run without --for does not count: its key is not issued.
  const again = await daemon.run([...issuing, '--out', results.replace('csv', 'jsonl')]);
  expect([again.code, again.rows]).toMatchObject([0, [{ result: 'known', providers: { 'okta-13': 'issued' } }]]);
  expect(await daemon.run(['enroll', '--for', 'okta-13'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--activate-for'),
  });
});

test('a key whose provider is away has failed, and the next run with the same file finishes it', async () => {
  const [company, okta] = [await provider('company-14'), await provider('okta-14', startOkta)];
  const { url, authenticator } = await unregistered('ISSUE-14');
  const out = join(temporaryFolder(), 'results.csv');
  const words = ['--activate-for', 'ada.lovelace', '--for', 'company-14,okta-14', '--pin-file', secretFile('271828')];
  const enroll = ['enroll', ...words, '--timeout', '1', '--out', out, '--hardware', url];
  okta.trouble('finish', 'away', 'away', 'away');
  const failed = await daemon.run([...enroll, '--json']);
  expect(failed.rows).toMatchObject([
    {
      result: 'failed',
      status: 'ACTIVE',
      providers: { 'company-14': 'issued', 'okta-14': 'missing' },
      message: expect.stringContaining('not issued at okta-14'),
    },
  ]);
  const finished = await daemon.run([...enroll, '--count', '1']);
  expect([finished.code, finished.stdout]).toEqual([
    0,
    expect.stringContaining('signs in at      company-14, okta-14'),
  ]);
  expect([company.accepted.length, okta.accepted.length, authenticator.credentials.length]).toEqual([1, 1, 2]);
  // The file has it: there is nothing left to do.
  expect(await daemon.run([...enroll, '--count', '1'])).toMatchObject({ code: 0, stdout: '' });
});

test('a random PIN of an enrollment is on the letter, and a key that was pulled continues with it', async () => {
  const company = await provider('company-15');
  await recipient();
  const { url, authenticator, replug } = await unregistered('ISSUE-15');
  const labels: string[] = [];
  const { address, server } = await labelPrinter(reading(labels));
  onTestFinished(() => void server.close());
  const out = join(temporaryFolder(), 'results.csv');
  const words = ['--for', 'company-15', '--pin', 'random', '--label', '--printer', address, '--out', out];
  company.trouble('options', 'refused');
  const run = daemon.start(['enroll', '--activate-for', 'ada.lovelace', '--count', '1', ...words, '--hardware', url]);
  await run.until('stdout', /not issued at company-15/);
  await replug();
  const { code, stdout } = await run.ended;
  expect([code, company.accepted.length]).toEqual([0, 1]);
  const [, pin = ''] = /\^FDPIN (\d{8})\^FS/.exec(labels.join()) ?? [];
  expect([labels.length, authenticator.isPin(pin), authenticator.retries]).toEqual([1, true, 8]);
  expect(stdout + readFileSync(out, 'utf8')).not.toContain(pin);
});

test('the letter of a PIN that the key has got, although its answer was lost, is printed when the key continues', async () => {
  await provider('company-26');
  await recipient();
  const { url, authenticator, replug } = await unregistered('ISSUE-26');
  const labels: string[] = [];
  const { address, server } = await labelPrinter(reading(labels));
  onTestFinished(() => void server.close());
  const real = authenticator.cbor.bind(authenticator);
  authenticator.cbor = request => {
    const hadPin = authenticator.hasPin;
    const answer = real(request);
    return authenticator.hasPin && !hadPin ? Buffer.of(0x7f) : answer;
  };
  const words = ['--for', 'company-26', '--pin', 'random', '--label', '--printer', address, '--count', '1'];
  const run = daemon.start(['enroll', '--activate-for', 'ada.lovelace', ...words, '--hardware', url]);
  await run.until('stdout', /not issued at company-26/);
  await replug();
  expect((await run.ended).code).toBe(0);
  const [, pin = ''] = /\^FDPIN (\d{8})\^FS/.exec(labels.join()) ?? [];
  expect([authenticator.isPin(pin), authenticator.retries]).toEqual([true, 8]);
  const [{ deviceId }] = (await daemon.call('GET', '/api/devices/list?serialNumber=ISSUE-26')).list;
  await removeProvider('company-26', deviceId);
});

test('a key that one command issues is left alone by another one, whose PIN would replace the stored one', async () => {
  await provider('company-22');
  const { authenticator, station, deviceId, hooks, bodies } = await plugged('ISSUE-22');
  const identity = await recipient();
  const random = ['keys', 'issue', '--for', 'company-22', '--pin', 'random', '--hardware', station];
  const enroll = ['enroll', '--for', 'company-22', '--pin', 'random', '--printer', '127.0.0.1:9', '--label'];
  const others: Finished[] = [];
  hooks.before = async ({ step }) => {
    if (step !== 'pin' || others.length > 0) return;
    others.push(await daemon.run(random), await daemon.run([...random, '--reset', '--yes']));
    others.push(
      await daemon.run([...enroll, '--activate-for', 'ada.lovelace', '--timeout', '1', '--hardware', station]),
    );
  };
  expect(await daemon.run(random)).toMatchObject({ code: 0 });
  const taken = /another run uses the key ISSUE-22 \(process \d+\)/;
  expect(others.map(({ code }) => code)).toEqual([1, 1, 10]);
  for (const { stdout, stderr } of others) expect(stdout + stderr).toMatch(taken);
  const { stdout } = await daemon.run(['keys', 'letter', deviceId, '--identity-file', identity, '-q']);
  expect(authenticator.isPin(stdout.trim())).toBe(true);
  expect(bodies.map(({ step }) => step)).toEqual(['state', 'pin', 'credential']);
  await removeProvider('company-22', deviceId);
});

test('a minimal length of the PIN is kept by the key, and a shorter first PIN is not set', async () => {
  await provider('company-18');
  const { authenticator, issue, bodies } = await plugged('ISSUE-18');
  expect(await issue('company-18', '481516', '--min-pin', '8')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('at least 8 characters'),
  });
  expect(authenticator.hasPin).toBe(false);
  expect(await issue('company-18', '48151623', '--min-pin', '8')).toMatchObject({ code: 0, stderr: '' });
  expect([authenticator.minPinLength, authenticator.forcesPinChange]).toEqual([8, false]);
  // A setting that an earlier run has not made is made later; one that the key has already is not.
  expect(await issue('company-18', '48151623', '--min-pin', '10')).toMatchObject({ code: 0 });
  expect([authenticator.minPinLength, authenticator.forcesPinChange]).toEqual([10, true]);
  const steps = bodies.length;
  expect(await issue('company-18', '48151623', '--min-pin', '8')).toMatchObject({ code: 0 });
  // The first question is whether it is the issued key.
  expect(bodies.slice(steps).map(({ step }) => step)).toEqual(['state', 'state']);
});

test('a PIN that is missing or too short is reported before a key is erased or registered', async () => {
  const company = await provider('company-24');
  const { authenticator, issue, bodies, station } = await plugged('ISSUE-24');
  expect(await issue('company-24', '481516')).toMatchObject({ code: 0 });
  await recipient();
  const steps = bodies.length;
  const missing: string[] = [];
  const short = ['--pin-file', secretFile('481516'), '--min-pin', '8'];
  for (const pin of [missing, ['--pin-file', 'missing'], short, ['--pin', 'random:6', '--min-pin', '8']]) {
    const reset = ['keys', 'issue', '--for', 'company-24', '--reset', '--yes', '--hardware', station];
    expect(await daemon.run([...reset, ...pin])).toMatchObject({ code: 2, stderr: expect.stringContaining('PIN') });
  }
  expect([bodies.length, authenticator.credentials.length, company.accepted.length]).toEqual([steps, 1, 1]);
  const { url } = await unregistered('ISSUE-25');
  const enroll = ['enroll', '--count', '1', '--activate-for', 'ada.lovelace', '--for', 'company-24', '--hardware', url];
  for (const pin of [missing, ['--pin-file', 'missing']])
    expect(await daemon.run([...enroll, ...pin])).toMatchObject({ code: 2, stderr: expect.stringContaining('PIN') });
  expect((await daemon.call('GET', '/api/devices/list?serialNumber=ISSUE-25')).list).toEqual([]);
});

test('a secret is replaced from a file, and is in no output', async () => {
  await provider('company-19');
  const secret = ['providers', 'update', 'company-19'];
  expect(await daemon.run(secret)).toMatchObject({ code: 2, stderr: expect.stringContaining('--secret-file') });
  const wrong = await daemon.run([...secret, '--secret-file', secretFile('wrong-secret')]);
  expect(wrong).toMatchObject({ code: 0, stdout: expect.stringContaining('has a new secret') });
  expect(wrong.stdout + wrong.stderr).not.toContain('wrong-secret');
  expect(await daemon.run(['providers', 'test', 'company-19'])).toMatchObject({ code: 1 });
  await daemon.run([...secret, '--secret-file', secretFile('entra-secret')]);
  expect(await daemon.run(['providers', 'test', 'company-19'])).toMatchObject({ code: 0 });
  expect(await daemon.run(['providers', 'remove', 'company-19', '--yes'])).toMatchObject({ code: 0 });
});

test('a wrong PIN from a file is entered once for a key, however often it is plugged in again', async () => {
  await provider('company-20');
  const { authenticator, issue, replug, url } = await plugged('ISSUE-20');
  expect(await issue('company-20', '481516')).toMatchObject({ code: 0 });
  const okta = await provider('okta-20', startOkta);
  const words = ['--for', 'okta-20', '--pin-file', secretFile('481517'), '--count', '1', '--hardware', url];
  const run = daemon.start(['enroll', '--activate-for', 'ada.lovelace', ...words]);
  for (let turn = 0; turn < 3; turn++) {
    await run.until('stdout', new RegExp(`(?:not issued at okta-20[^]*){${turn + 1}}`));
    if (turn < 2) await replug();
  }
  run.child.kill('SIGINT');
  await run.ended;
  expect([authenticator.retries, okta.accepted.length]).toEqual([7, 0]);
});

test('a run that ended before the key had the rule about its PIN is finished by the next one', async () => {
  await provider('company-16');
  const { authenticator, issue } = await plugged('ISSUE-16');
  // As if it ended there.
  expect(await issue('company-16', '481516')).toMatchObject({ code: 0 });
  expect(await issue('company-16', '481516', '--change-pin')).toMatchObject({ code: 0 });
  expect(authenticator.forcesPinChange).toBe(true);
  const { entries } = authenticator;
  expect(await issue('company-16', '481516', '--change-pin')).toMatchObject({ code: 0 });
  expect(authenticator.entries).toBe(entries);
});

needs(['fido2-cred', 'fido2-assert'], 'fido2-tools')('fido2-cred and fido2-assert', () => {
  const judge = (program: string, args: readonly string[], ...lines: readonly (Uint8Array | string)[]) => {
    const input = lines.map(line => (typeof line === 'string' ? line : Buffer.from(line).toString('base64')));
    return spawnSync(findTool(program)!, ['-V', '-v', ...args], { input: `${input.join('\n')}\n`, encoding: 'utf8' });
  };

  test('verify what a key has made at both providers, and that it signs in there with its PIN', async () => {
    const states = [await provider('company-17'), await provider('okta-17', startOkta)];
    const { authenticator, issue } = await plugged('ISSUE-17');
    expect(await issue('company-17,okta-17', '481516')).toMatchObject({ code: 0 });
    for (const { rpId, accepted, responses } of states) {
      const { credentialId } = accepted[0]!;
      const id = Buffer.from(credentialId, 'base64url');
      const { attestationObject, clientDataJSON } = responses.get(credentialId)!;
      const hash = createHash('sha256').update(clientDataJSON, 'base64url').digest();
      const object = expectMap(readCbor(Buffer.from(attestationObject, 'base64url')), 'object');
      const data = writeCbor(expectBytes(object.get('authData'), 'data'));
      const statement = expectMap(object.get('attStmt'), 'statement');
      const [certificate] = statement.get('x5c') as readonly Uint8Array[];
      const made = [rpId, 'packed', data, id, expectBytes(statement.get('sig'), 'signature'), certificate!] as const;
      const verified = judge('fido2-cred', ['-c', '2'], hash, ...made);
      expect([verified.status, verified.stderr]).toEqual([0, '']);
      expect(judge('fido2-cred', ['-c', '2'], Buffer.alloc(32), ...made).status).not.toBe(0);
      const key = secretFile(verified.stdout.slice(verified.stdout.indexOf('-----BEGIN')).trimEnd());
      const challenge = randomBytes(32);
      const signed = authenticator.assertion(id, challenge);
      const assertion = [rpId, writeCbor(signed.data), signed.signature] as const;
      expect(judge('fido2-assert', ['-p', key, 'es256'], challenge, ...assertion).status).toBe(0);
      expect(judge('fido2-assert', ['-p', key, 'es256'], randomBytes(32), ...assertion).status).not.toBe(0);
    }
  });
});

/** Providers at which keys are issued, and keys that are issued, from the command line. The providers are stand-ins: see their file. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json as bodyOf } from 'node:stream/consumers';
import { Decrypter, generateIdentity } from 'age-encryption';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Answer, adminPassword } from '../support/daemon.ts';
import { answering, closedAddress, json, success } from '../support/http-servers.ts';
import { answerOf, startEntra, startOkta } from '../support/issuing-providers.ts';
import { labelPrinter, reading } from '../support/label-printer.ts';
import { issuingBy, secretFile } from './issuing.ts';
import { type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
const { plugged, provider, recipient } = issuingBy(() => daemon);
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--webhook-allow', '127.0.0.1'] });
});
afterAll(() => discard(daemon));

/** The content of each file below a folder. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'));

/** A provider under a name, and an ACTIVE device of a person with a credential there. */
async function issued(name: string, serial: string) {
  const { state, settings } = await startEntra();
  const { address, loginAddress } = settings;
  const flags = [
    '--tenant',
    'tenant-1',
    '--client-id',
    'client-1',
    '--address',
    address,
    '--login-address',
    loginAddress,
  ];
  const added = await daemon.run([
    'providers',
    'add',
    'entra',
    name,
    ...flags,
    '--secret-file',
    secretFile('entra-secret'),
  ]);
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('is added') });
  const { deviceId, activationCode } = await daemon.register(serial);
  const body = { deviceId, activationCode, userId: 'ada.lovelace' };
  await daemon.call('POST', '/api/devices/activate', body);
  const [{ providerId }] = (await daemon.call('GET', '/api/providers/list')).list.slice(-1);
  const issue = async () => {
    const begun = await daemon.call('POST', `/api/devices/${deviceId}/credentials`, { providerId });
    return daemon.call('POST', `/api/devices/${deviceId}/credentials/${begun.credentialId}`, {
      response: answerOf(begun),
    });
  };
  await issue();
  return { state, deviceId, issue };
}

test('a provider is added with a secret from a file, tested, listed and removed; a VIEWER sees its id at a key', async () => {
  expect((await daemon.run(['providers', 'list'])).stderr).toContain('devmgr providers add');
  const { deviceId } = await issued('company', 'IDP-CLI-1');
  expect(await daemon.run(['providers', 'test', 'company'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('accepts requests'),
  });
  const list = await daemon.run(['providers', 'list']);
  expect(list.stdout).toMatch(
    /^NAME +TYPE +SIGN-IN +PEOPLE +KEYS +PROVIDER .*\ncompany +entra +- +- +yes +IDP-\d+ .* 1 +0/,
  );
  expect(list.stdout).not.toContain('entra-secret');
  expect((await daemon.run(['show', deviceId])).stdout).toMatch(/signs in at: +company as ada.lovelace since /);
  await daemon.call('POST', '/api/users', { username: 'vera', role: 'VIEWER', password: adminPassword });
  const { token } = await daemon.call('POST', '/api/auth/login', { username: 'vera', password: adminPassword });
  const seen = await daemon.run(['show', deviceId, '--server', daemon.url], { env: { DEVMGR_TOKEN: token } });
  expect(seen).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/signs in at: +IDP-\d+ as ada.lovelace since /),
  });
  expect(await daemon.run(['providers', 'remove', 'company', '--yes'])).toMatchObject({ code: 2 });
  expect(await daemon.run(['providers', 'test', 'unknown'])).toMatchObject({ code: 5 });
  const comma = ['providers', 'add', 'devmgr', 'one,two', '--address', 'https://registry.example.com'];
  expect(await daemon.run(comma)).toMatchObject({ code: 2, stderr: expect.stringContaining('comma') });
  expect(await daemon.run(['providers', 'add', 'entra', 'x'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--secret-file'),
  });
});

test('a key gets its first PIN and a credential at each provider, in one plugging', async () => {
  const [company, okta] = [await provider('company-1'), await provider('okta-1', startOkta)];
  const { authenticator, issue, deviceId, logged } = await plugged('ISSUE-1');
  const first = await issue('company-1,okta-1', '271828-Grüße');
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(/ISSUE-1 is issued\n.*company-1: +ada.lovelace, since/);
  expect(authenticator.isPin('271828-Grüße')).toBe(true);
  expect(authenticator.credentials.map(({ rpId }) => rpId)).toEqual(['login.microsoft.com', 'localhost']);
  for (const { accepted } of [company, okta]) expect(accepted).toMatchObject([{ person: 'ada.lovelace' }]);
  const entries = authenticator.entries;
  expect((await issue('company-1,okta-1', 'not-the-pin')).stdout).toContain('was already issued');
  expect(authenticator.entries).toBe(entries);
  const listed = await daemon.call('GET', `/api/devices/${deviceId}/credentials`);
  expect(listed).toMatchObject([{ pending: false }, { pending: false }]);
  const everything = [JSON.stringify(listed), first.stdout, ...logged, ...filesIn(daemon.home)].join('\n');
  expect(logged.length).toBeGreaterThan(20);
  expect(everything).not.toContain('271828');
  expect(everything).not.toContain(Buffer.from('271828').toString('hex'));
});

test('an ADMIN issues a key of this registry for a colleague, who signs in with it alone', async () => {
  await daemon.call('POST', '/api/users', { username: 'ada.lovelace', role: 'ADMIN', password: adminPassword });
  const origin = daemon.url.replace('127.0.0.1', 'localhost');
  const added = await daemon.run(['providers', 'add', 'devmgr', 'accounts', '--address', origin]);
  expect(added.code).toBe(0);
  const { authenticator, deviceId, issue } = await plugged('ISSUE-20');
  expect(await issue('accounts', '481516')).toMatchObject({ code: 0, stderr: '' });
  const [{ id, userId }] = authenticator.credentials as [(typeof authenticator.credentials)[number]];
  const ask = async (path: string, body?: object) => {
    const headers = { origin, ...(body && { 'content-type': 'application/json' }) };
    const answer = await fetch(origin + path, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) });
    return ((await answer.json()) as Answer).data;
  };
  const { options } = await ask('/api/auth/webauthn/options');
  const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge: options.challenge, origin }));
  const { data, signature } = authenticator.assertion(id, createHash('sha256').update(clientData).digest());
  const [name, clientDataJSON] = [id.toString('base64url'), clientData.toString('base64url')];
  const [authenticatorData, userHandle] = [data.toString('base64url'), userId.toString('base64url')];
  const signed = { clientDataJSON, authenticatorData, signature: signature.toString('base64url'), userHandle };
  const response = { id: name, rawId: name, type: 'public-key', response: signed };
  expect((await ask('/api/auth/webauthn/login', { response })).user.username).toBe('ada.lovelace');
  await daemon.run(['lock', deviceId, '--reason', 'lost']);
  const open = async () => (await daemon.call('GET', '/api/providers/list')).list.at(-1).credentials;
  await expect.poll(open).toBe(0);
  expect((await daemon.run(['providers', 'remove', 'accounts', '--yes'])).code).toBe(0);
});

test('a wrong PIN is entered once, and nothing is made', async () => {
  const company = await provider('company-2');
  const { authenticator, issue, bodies } = await plugged('ISSUE-2');
  expect(await issue('company-2', '481516')).toMatchObject({ code: 0 });
  await daemon.call('GET', '/api/providers/list');
  const okta = await provider('okta-2', startOkta);
  expect(await issue('okta-2', '481517')).toMatchObject({
    code: 10,
    stderr: expect.stringContaining('after a few wrong ones'),
  });
  expect(authenticator.retries).toBe(7);
  expect([company.accepted.length, okta.accepted.length]).toEqual([1, 0]);
  expect(bodies.filter(({ step }) => step === 'pin')).toHaveLength(1);
  expect(await issue('okta-2', '481516')).toMatchObject({ code: 0 });
});

test('a provider that loses answers or goes away: the same command finishes, with one credential', async () => {
  const company = await provider('company-3');
  const { authenticator, issue } = await plugged('ISSUE-3');
  company.trouble('finish', 'away', 'away', 'away');
  expect(await issue('company-3', '481516')).toMatchObject({ code: 1 });
  expect(company.accepted).toHaveLength(0);
  company.trouble('finish', 'lost', 'away');
  expect(await issue('company-3', '481516')).toMatchObject({ code: 0 });
  expect(company.accepted).toHaveLength(1);
  // A key that makes a credential for the same account replaces the one that it has.
  expect(authenticator.credentials).toHaveLength(1);
});

test('a device without a person, or a locked one, is not issued, and its key gets no PIN', async () => {
  await provider('company-4');
  const { authenticator, issue, deviceId, bodies } = await plugged('ISSUE-4');
  await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
  expect(await issue('company-4', '481516')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('only ACTIVE devices can be issued'),
  });
  expect(bodies).toEqual([]);
  expect(authenticator.credentials).toEqual([]);
  expect(await issue('nowhere', '481516')).toMatchObject({ code: 5 });
});

test('what a provider refuses does not stay on the key', async () => {
  const company = await provider('company-6');
  const { authenticator, issue } = await plugged('ISSUE-6');
  company.trouble('finish', 'refused');
  expect(await issue('company-6', '481516')).toMatchObject({ code: 2, stderr: expect.stringContaining('not allowed') });
  expect(authenticator.credentials).toEqual([]);
  expect(company.accepted).toEqual([]);
});

test('a PIN that the person has to change opens nothing any more; a reset needs a confirmation and frees the key', async () => {
  const company = await provider('company-7');
  const { authenticator, issue, deviceId } = await plugged('ISSUE-7');
  expect(await issue('company-7', '481516', '--change-pin')).toMatchObject({ code: 0 });
  const okta = await provider('okta-7', startOkta);
  expect(await issue('okta-7', '481516')).toMatchObject({ code: 10, stderr: expect.stringContaining('changed first') });
  expect(await issue('okta-7', '481516', '--reset')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  });
  expect(authenticator.credentials).toHaveLength(1);
  expect(await issue('okta-7', '108816', '--reset', '--yes')).toMatchObject({ code: 0 });
  expect(authenticator.isPin('108816')).toBe(true);
  expect(authenticator.credentials.map(({ rpId }) => rpId)).toEqual(['localhost']);
  await expect.poll(() => [company.accepted.length, okta.accepted.length]).toEqual([0, 1]);
  const present = async () =>
    (await daemon.call('GET', `/api/devices/${deviceId}/credentials`)) as { removedAt: string | null }[];
  await expect.poll(async () => (await present()).filter(({ removedAt }) => removedAt === null)).toHaveLength(1);
});

test('a random PIN is printed once, is sealed in the registry, and is in no other place', async () => {
  await provider('company-8');
  const { authenticator, station, deviceId, logged } = await plugged('ISSUE-8');
  const random = ['keys', 'issue', '--for', 'company-8', '--pin', 'random:16', '--hardware', station];
  await daemon.call('PUT', '/api/policies/pin', { recipients: [] });
  expect(await daemon.run(random)).toMatchObject({ code: 2, stderr: expect.stringContaining('no recipient') });
  const identity = await recipient();
  const labels: string[] = [];
  const { address, server } = await labelPrinter(reading(labels));
  onTestFinished(() => void server.close());
  const issued = await daemon.run([...random, '--printer', address]);
  expect(issued).toMatchObject({ code: 0, stdout: expect.stringContaining('ISSUE-8 is issued') });
  const [, pin = ''] = /\^FDPIN (\d{16})\^FS/.exec(labels.join()) ?? [];
  expect([labels.length, authenticator.isPin(pin)]).toEqual([1, true]);

  const letter = ['keys', 'letter', deviceId, '--identity-file'];
  const other = secretFile(await generateIdentity());
  expect(await daemon.run([...letter, other])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('does not open'),
  });
  const again = await daemon.run([...letter, identity, '--printer', address]);
  expect([again.code, labels.length, labels[1]]).toEqual([0, 2, labels[0]]);
  const everything = [issued, again].flatMap(({ stdout, stderr }) => [stdout, stderr]);
  const stored = [...everything, ...logged, ...filesIn(daemon.home)].join('\n');
  for (const text of [pin, Buffer.from(pin).toString('hex'), Buffer.from(pin).toString('base64url').slice(0, 20)])
    expect(stored).not.toContain(text);
  expect(stored).toContain('PIN_READ');
  expect((await daemon.run([...letter, identity, '--quiet'])).stdout).toBe(`${pin}\n`);
});

test('a random PIN is stored before the key gets it, and a key that has one is not given another', async () => {
  const company = await provider('company-9');
  const { authenticator, station, deviceId, hooks } = await plugged('ISSUE-9');
  const identity = await recipient();
  const random = ['keys', 'issue', '--for', 'company-9', '--pin', 'random', '--hardware', station];
  const read = async () => (await daemon.run(['keys', 'letter', deviceId, '--identity-file', identity, '-q'])).stdout;
  let sealed = '';
  hooks.before = async ({ step }) => {
    if (step === 'pin') sealed = (await daemon.call('GET', `/api/devices/${deviceId}/pin`)).sealed;
  };
  // The run ends before anything is registered: the key has a PIN, and the registry can say which one.
  company.trouble('options', 'refused');
  expect(await daemon.run(random)).toMatchObject({ code: 2 });
  const pin = (await read()).trim();
  expect(authenticator.isPin(pin)).toBe(true);
  const decrypter = new Decrypter();
  decrypter.addIdentity(readFileSync(identity, 'utf8').trim());
  expect(await decrypter.decrypt(Buffer.from(sealed, 'base64url'), 'text')).toBe(pin);
  expect(await daemon.run(random)).toMatchObject({ code: 1, stderr: expect.stringContaining('devmgr keys letter') });
  expect([(await read()).trim(), authenticator.retries]).toEqual([pin, 8]);
  const withPin = ['keys', 'issue', '--for', 'company-9', '--pin-file', secretFile(pin), '--hardware', station];
  expect(await daemon.run(withPin)).toMatchObject({ code: 0 });
  // The reset has erased an earlier PIN.
  hooks.before = async () => {};
  const erase = ['keys', 'issue', '--for', 'company-9', '--reset', '--yes', '--hardware', station];
  expect(await daemon.run([...erase, '--pin', 'random'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Next: devmgr keys letter ${deviceId}`),
  });
  expect(await daemon.run([...erase, '--pin-file', secretFile('108816')])).toMatchObject({ code: 0 });
  expect(await daemon.run(['keys', 'letter', deviceId, '--identity-file', identity])).toMatchObject({
    stderr: expect.stringContaining('no PIN of this device is stored'),
  });
  const earlier = ['keys', 'letter', deviceId, '--identity-file', identity, '-q', '--earlier'];
  expect((await daemon.run([...earlier, '2'])).stdout.trim()).toBe(pin);
  expect(await daemon.run([...earlier, '3'])).toMatchObject({ code: 5, stdout: '' });
});

test('a recipient that was replaced while the command runs cannot open the PIN that it creates', async () => {
  const company = await provider('company-12');
  const { authenticator, station, deviceId, hooks } = await plugged('ISSUE-12');
  const before = await recipient();
  let after = '';
  hooks.before = async ({ step }) => {
    if (step === 'state') after = await recipient();
  };
  company.trouble('options', 'refused');
  expect(
    await daemon.run(['keys', 'issue', '--for', 'company-12', '--pin', 'random', '--hardware', station]),
  ).toMatchObject({ code: 2 });
  const opened = (identity: string) => daemon.run(['keys', 'letter', deviceId, '--identity-file', identity, '-q']);
  expect(await opened(before)).toMatchObject({ code: 1, stderr: expect.stringContaining('does not open') });
  expect(authenticator.isPin((await opened(after)).stdout.trim())).toBe(true);
  expect(await daemon.run(['providers', 'remove', 'company-12', '--yes'])).toMatchObject({ code: 0 });
});

test('a letter that is not printed ends with exit code 10, and the key is issued with a PIN that can be opened', async () => {
  await provider('company-10');
  const { authenticator, station, deviceId } = await plugged('ISSUE-10');
  const identity = await recipient();
  const away = new URL(await closedAddress()).host;
  const random = ['keys', 'issue', '--for', 'company-10', '--pin', 'random', '--hardware', station];
  expect(await daemon.run([...random, '--printer', away])).toMatchObject({
    code: 10,
    stdout: expect.stringContaining('ISSUE-10 is issued'),
    stderr: expect.stringContaining(`devmgr keys letter ${deviceId}`),
  });
  const { stdout } = await daemon.run(['keys', 'letter', deviceId, '--identity-file', identity, '-q']);
  expect(authenticator.isPin(stdout.trim())).toBe(true);
  const template = join(temporaryFolder(), 'letter.zpl');
  writeFileSync(template, '^XA^FD{serialNumber}^FS^XZ');
  expect(await daemon.run([...random, '--printer', away, '--template', template])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('does not print the PIN'),
  });
});

test('a PIN that is too short for the key is not set', async () => {
  await provider('company-5');
  const { issue, bodies } = await plugged('ISSUE-5', { minPinLength: 8 });
  expect(await issue('company-5', '481516')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('at least 8 characters'),
  });
  expect(bodies.map(({ step }) => step)).toEqual(['state']);
});

test('providers test and doctor name the proxy of the daemon, without its password', async () => {
  const away = new URL(await closedAddress());
  const proxy = `the proxy http://${away.host} (HTTPS_PROXY)`;
  const other = await startDaemon({
    args: ['--webhook-allow', '192.0.2.1'],
    env: { HTTPS_PROXY: `http://ann:hidden@${away.host}` },
  });
  onTestFinished(() => discard(other));
  await other.call('POST', '/api/providers', { name: 'far', type: 'okta', address: 'https://192.0.2.1', secret: 'x' });
  const tested = await other.run(['providers', 'test', 'far']);
  const doctor = await other.run(['doctor']);
  expect(tested.code).toBe(1);
  expect(tested.stdout).toMatch(/proxy: +the proxy/);
  for (const { stdout, stderr } of [tested, doctor]) {
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(proxy);
    expect(stdout + stderr).not.toContain('hidden');
  }
});

test('a lost key is one command, doctor reports what a provider still accepts and one that refuses the secret, and unlock that it has to be issued again', async () => {
  const { state, deviceId } = await issued('lost', 'IDP-CLI-2');
  const { settings } = await startOkta();
  const refusing = { name: 'refusing', ...settings, secret: 'revoked' };
  const { providerId } = await daemon.call('POST', '/api/providers', refusing);
  const doctor = async () => (await daemon.run(['doctor'])).stdout.replaceAll(/\s+/g, ' ');
  const before = await doctor();
  expect(before).toContain('✓ provider lost ');
  expect(before).toMatch(/✗ provider refusing, [^→]*Invalid token provided[^→]*→[^✓]*devmgr providers test refusing/);
  await daemon.call('POST', `/api/providers/${providerId}/remove`);
  state.trouble('remove', ...Array<'away'>(100).fill('away'));
  expect(await daemon.run(['lock', deviceId, '--reason', 'lost'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`1 credential at providers is being removed. See: devmgr show ${deviceId}`),
  });
  expect(await doctor()).toContain('! provider lost, 1 credential still to be removed');
  state.trouble('remove');
  await state.emptied();
  await expect
    .poll(async () => (await daemon.run(['show', deviceId])).stdout, { timeout: 10_000 })
    .toMatch(/^ +removed at: +[\w-]+: \d{4}-/m);
  expect((await daemon.run(['show', deviceId])).stdout).not.toContain('since');
  expect(await daemon.run(['unlock', deviceId])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('issue the key again'),
  });
});

test('what differs at a provider is shown, and repaired after a confirmation', async () => {
  const { state } = await issued('differs', 'IDP-CLI-3');
  expect(await daemon.run(['providers', 'reconcile', 'differs', '--dry-run'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('agree'),
  });
  const [made] = state.accepted;
  state.accepted.push(
    { ...made!, remoteId: 'orphan', credentialId: 'AAAA', label: made!.label.replace(/.{10}$/, '0123456789') },
    { ...made!, remoteId: 'phone', credentialId: 'BBBB', label: 'my phone' },
  );
  const preview = await daemon.run(['providers', 'reconcile', 'differs', '--dry-run']);
  expect(preview).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/orphan of .* exists only at the provider\n/),
  });
  expect(preview.stderr).toMatch(/phone of .*: it stays/);
  expect(state.accepted).toHaveLength(3);
  expect(await daemon.run(['providers', 'reconcile', 'differs', '--yes'])).toMatchObject({ code: 0 });
  expect(state.accepted.map(({ remoteId }) => remoteId)).toEqual([made!.remoteId, 'phone']);
});

test('providers add sends the settings of the provider, and nothing about this machine', async () => {
  const bodies: unknown[] = [];
  const { url } = await answering(async (request, response) => {
    if (request.method === 'POST') bodies.push(await bodyOf(request));
    response.writeHead(200, json).end(success({ providerId: 'IDP-1', name: 'accounts', type: 'devmgr' }));
  });
  const line = ['providers', 'add', 'devmgr', 'accounts', '--address', 'https://registry.example.com', '--server', url];
  expect(await devmgr(line, { env: { DEVMGR_TOKEN: 'token-of-a-test' } })).toMatchObject({ code: 0 });
  expect(bodies).toEqual([{ name: 'accounts', type: 'devmgr', address: 'https://registry.example.com' }]);
});

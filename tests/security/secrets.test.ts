/** Sends passwords, tokens and codes in every possible way, and searches for them in everything that is written or returned. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/programs.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, deviceIn, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { rawRequest } from '../support/raw-request.ts';
import { openStream, refusedUpgrade } from '../support/stream-client.ts';

let daemon: TestDaemon;
/** Secrets that must not be found, by kind. Codes are stored with their devices and returned to permitted roles. */
const passwords: Record<string, string> = {
  'first password': adminPassword,
  'password of a new user': 'planted-password-new',
  'wrong password at login': 'planted-password-wrong',
  'password of an unknown user': 'planted-password-unknown',
  'password in malformed JSON': 'planted-password-malformed',
  'password of the wrong type': 'planted-password-type',
  'password in a query': 'planted-password-query',
  'changed password': 'planted-password-changed',
  'wrong oldPassword': 'planted-password-old',
  'wrong confirmPassword': 'planted-password-confirm',
};
const tokens: Record<string, string> = {};
const codes: Record<string, string> = {};
/** Every response to the requests below. */
const responses: string[] = [];

const call: TestDaemon['call'] = async (...request) => {
  const response = await daemon.call(...request);
  responses.push(`${JSON.stringify(response)} ${JSON.stringify([...response.headers])}`);
  return response;
};
const login = (username: string, password: unknown) =>
  call('POST', '/api/auth/login', { username, password }, { token: null });

beforeAll(async () => {
  daemon = await startTestDaemon();
  const p = passwords as Record<string, never>;
  tokens.administrator = daemon.adminToken;
  const user = { username: 'planted', role: 'DEALER', password: p['password of a new user'] };
  const { id } = data(await call('POST', '/api/users', user));
  tokens.user = await daemon.login('planted', p['password of a new user']);
  await login('planted', p['wrong password at login']);
  await login('unknown', p['password of an unknown user']);
  await login('planted', [p['password of the wrong type']]);
  const raw = `{"username":"planted","password":"${passwords['password in malformed JSON']}"`;
  await call('POST', '/api/auth/login', undefined, {
    token: null,
    raw,
    headers: { 'content-type': 'application/json' },
  });
  await call('GET', `/api/devices/list?password=${p['password in a query']}&keyword=${tokens.user}`);
  const change = { password: p['changed password'], oldPassword: p['wrong oldPassword'] };
  await call('POST', `/api/users/${id}/password`, change, { token: tokens.user });

  const device = await register(daemon);
  codes.right = device.activationCode;
  codes.wrong = 'AAAA-BBBB-CCCC-DDDD';
  await call('POST', '/api/devices/activate', { ...activation(device), activationCode: codes.wrong });
  await call('POST', '/api/devices/activate', activation(device));
  const { deviceId } = await deviceIn('ACTIVE', daemon);
  codes.renewed = data(
    await daemon.call('POST', '/api/devices/generate-activation-code', { deviceId, reason: 'lost' }),
  ).activationCode;
  const deactivate = (confirmPassword: string | undefined) =>
    call('POST', `/api/devices/${deviceId}/deactivate`, { reason: 'worn out', confirmPassword });
  await deactivate(passwords['wrong confirmPassword']);
  await deactivate(adminPassword);

  tokens.refreshed = data(await daemon.call('POST', '/api/auth/refresh', undefined, { token: tokens.user })).token;
  const forged = `${tokens.user.slice(0, -6)}AAAAAA`;
  tokens.forged = forged;
  await call('GET', '/api/users/me', undefined, { token: forged });
  const stream = await openStream(daemon.url, { token: tokens.user });
  stream.ws.terminate();
  await stream.closed;
  const path = `/api/ws/notifications?token=${forged}`;
  responses.push(JSON.stringify(await refusedUpgrade(daemon.url, path)));
  responses.push(await (await fetch(`${daemon.url}${path}`)).text());
  responses.push(await (await fetch(`${daemon.url}/no/such/path?token=${tokens.user}`)).text());
  responses.push(
    await rawRequest(daemon.url, `GET /?token=${tokens.user} HTTP/1.1\r\nbad header ${tokens.user}\r\n\r\n`),
  );
  await call('POST', `/api/users/${id}/password`, { password: p['changed password'] });
  tokens.local = (await readFile(join(daemon.home, 'local-token'), 'utf8')).trim();
  await call('GET', '/api/hardware/keys', undefined, { token: tokens.local });
});
afterAll(() => daemon?.stop());

/** Only the signature of a token is secret; the rest names the user and the expiry. */
const secretPart = (token: string) => token.split('.').at(-1)!;
const secrets = () => [
  ...Object.entries(passwords),
  ...Object.entries(tokens).map(([name, token]) => [`token: ${name}`, secretPart(token)] as const),
];
const found = (text: string, among: readonly (readonly [string, string])[]) =>
  among.filter(([, secret]) => text.includes(secret)).map(([name]) => name);

it('no password, token or activation code is in the most verbose log', () => {
  const log = daemon.logged();
  expect(log).toContain('"path":"/api/auth/login"');
  expect(log.split('\n').length).toBeGreaterThan(20);
  expect(found(log, [...secrets(), ...Object.entries(codes)])).toEqual([]);
});

it('no response repeats a password or a token from a request', () => {
  expect(responses.length).toBeGreaterThan(15);
  // A search for a token finds nothing, and its response does not repeat it.
  expect(found(responses.join('\n'), secrets())).toEqual([]);
});

it('no journal entry contains a password, a token or an activation code', async () => {
  const options = { home: daemon.home, json: true, device: null, since: null, limit: null, verify: false };
  const { stdout } = await runDaemonProgram(audit, options);
  expect(stdout).toContain('PASSWORD_CHANGED');
  expect(stdout).toContain('DEVICE_DEACTIVATED');
  expect(found(stdout, [...secrets(), ...Object.entries(codes)])).toEqual([]);
});

it('no file of the home folder contains a password or a token, except the local token', async () => {
  const files = (await readdir(daemon.home, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile());
  expect(files.map(({ name }) => name)).toContain('devmgr.db');
  for (const { parentPath, name } of files) {
    const text = await readFile(join(parentPath, name), 'latin1');
    const local = name === 'local-token' ? ['token: local'] : [];
    expect([name, found(text, secrets())]).toEqual([name, local]);
  }
});

it('no notification contains a code, a password or a token', async () => {
  const token = await daemon.login('admin');
  const stream = await openStream(daemon.url, { token, since: 0 });
  await stream.untilSome(({ type }) => type === 'DEVICE_DEACTIVATED');
  stream.ws.terminate();
  expect(found(JSON.stringify(stream.frames), [...secrets(), ...Object.entries(codes)])).toEqual([]);
});

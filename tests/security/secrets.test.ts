/** Passwords, tokens and codes that are sent in every way there is, and looked for in everything that is written or answered. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../daemon/programs.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, deviceIn, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { rawRequest } from '../support/raw-request.ts';
import { openStream, refusedUpgrade } from '../support/stream-client.ts';

let daemon: TestDaemon;
/** What must not be found, by what it is. Codes are kept with their devices, and answered to those who may see them. */
const passwords: Record<string, string> = {
  'first password': adminPassword,
  'password of a new user': 'planted-password-new',
  'wrong password at login': 'planted-password-wrong',
  'password of nobody': 'planted-password-nobody',
  'password in malformed JSON': 'planted-password-malformed',
  'password of the wrong type': 'planted-password-type',
  'password in a query': 'planted-password-query',
  'changed password': 'planted-password-changed',
  'wrong oldPassword': 'planted-password-old',
  'wrong confirmPassword': 'planted-password-confirm',
};
const tokens: Record<string, string> = {};
const codes: Record<string, string> = {};
/** Every answer to what was sent below. */
const answers: string[] = [];

const call: TestDaemon['call'] = async (...request) => {
  const answer = await daemon.call(...request);
  answers.push(`${JSON.stringify(answer)} ${JSON.stringify([...answer.headers])}`);
  return answer;
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
  await login('nobody', p['password of nobody']);
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
  answers.push(JSON.stringify(await refusedUpgrade(daemon.url, path)));
  answers.push(await (await fetch(`${daemon.url}${path}`)).text());
  answers.push(await (await fetch(`${daemon.url}/no/such/path?token=${tokens.user}`)).text());
  answers.push(
    await rawRequest(daemon.url, `GET /?token=${tokens.user} HTTP/1.1\r\nbad header ${tokens.user}\r\n\r\n`),
  );
  await call('POST', `/api/users/${id}/password`, { password: p['changed password'] });
  tokens.local = (await readFile(join(daemon.home, 'local-token'), 'utf8')).trim();
  await call('GET', '/api/hardware/keys', undefined, { token: tokens.local });
});
afterAll(() => daemon?.stop());

/** Of a token the signature alone is secret: the rest says who and until when. */
const secretPart = (token: string) => token.split('.').at(-1)!;
const secrets = () => [
  ...Object.entries(passwords),
  ...Object.entries(tokens).map(([name, token]) => [`token: ${name}`, secretPart(token)] as const),
];
const found = (text: string, among: readonly (readonly [string, string])[]) =>
  among.filter(([, secret]) => text.includes(secret)).map(([name]) => name);

it('no password, token or activation code is in the log, however verbose', () => {
  const log = daemon.logged();
  expect(log).toContain('"path":"/api/auth/login"');
  expect(log.split('\n').length).toBeGreaterThan(20);
  expect(found(log, [...secrets(), ...Object.entries(codes)])).toEqual([]);
});

it('no answer repeats a password or a token that was sent', () => {
  expect(answers.length).toBeGreaterThan(15);
  // A search for a token is a search like any other: it finds nothing and says nothing.
  expect(found(answers.join('\n'), secrets())).toEqual([]);
});

it('no entry of the journal holds a password, a token or an activation code', async () => {
  const options = { home: daemon.home, json: true, device: null, since: null, limit: null, verify: false };
  const { stdout } = await runDaemonProgram(audit, options);
  expect(stdout).toContain('PASSWORD_CHANGED');
  expect(stdout).toContain('DEVICE_DEACTIVATED');
  expect(found(stdout, [...secrets(), ...Object.entries(codes)])).toEqual([]);
});

it('no file of the home holds a password, and none a token but the one that is for the programs of this user', async () => {
  const files = (await readdir(daemon.home, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile());
  expect(files.map(({ name }) => name)).toContain('devmgr.db');
  for (const { parentPath, name } of files) {
    const text = await readFile(join(parentPath, name), 'latin1');
    const local = name === 'local-token' ? ['token: local'] : [];
    expect([name, found(text, secrets())]).toEqual([name, local]);
  }
});

it('no notification holds a code, a password or a token', async () => {
  const token = await daemon.login('admin');
  const stream = await openStream(daemon.url, { token, since: 0 });
  await stream.untilSome(({ type }) => type === 'DEVICE_DEACTIVATED');
  stream.ws.terminate();
  expect(found(JSON.stringify(stream.frames), [...secrets(), ...Object.entries(codes)])).toEqual([]);
});

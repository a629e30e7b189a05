/** `devmgr search` against a real daemon, and what it asks a server for. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listening, success } from '../support/http-servers.ts';
import { type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
let viewer: string;
beforeAll(async () => {
  daemon = await startDaemon();
  const serials = ['KEY-ALICE', ...Array.from({ length: 12 }, (_, at) => `MANY-${100 + at}`), 'MANY-1'];
  for (const serial of serials) await daemon.register(serial);
  await daemon.call('POST', '/api/users', {
    username: 'alice',
    password: 'a long password',
    role: 'VIEWER',
    email: 'a.smith@example.com',
  });
  const bound = await daemon.register('BOUND-1');
  await daemon.call('POST', '/api/devices/activate', { ...bound, userId: 'USR-2' });
  const { activationCode } = await daemon.call('GET', '/api/devices/DEV-1');
  await daemon.call('POST', '/api/devices/activate', { deviceId: 'DEV-1', activationCode, userId: 'alice' });
  writeFileSync(join(daemon.home, 'alice-tool.apk'), 'package');
  await daemon.run(['apps', 'add', join(daemon.home, 'alice-tool.apk'), '--version', '7.1.0']);
  const login = await fetch(`${daemon.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'alice', password: 'a long password' }),
  });
  viewer = ((await login.json()) as { data: { token: string } }).data.token;
});
afterAll(() => discard(daemon));

const serialsOf = (group: { list: { serialNumber: string }[] }) => group.list.map(device => device.serialNumber);

test('a text finds devices, those of a user, the user, and application versions, in upper or lower case', async () => {
  const { code, json } = await daemon.run(['search', 'Alice', '--json']);
  expect(code).toBe(0);
  expect(Object.keys(json)).toEqual(['text', 'devices', 'boundDevices', 'users', 'people', 'appVersions']);
  expect(serialsOf(json.devices)).toEqual(['KEY-ALICE']);
  expect(serialsOf(json.boundDevices)).toEqual(['KEY-ALICE', 'BOUND-1']);
  expect(json.users).toMatchObject({ total: 1, complete: true, list: [{ id: 'USR-2', username: 'alice' }] });
  expect(json.appVersions).toMatchObject({ total: 1, complete: true, list: [{ fileName: 'alice-tool.apk' }] });
});

test('a part of the name or address of a person finds the person', async () => {
  const ada = { userName: 'countess', name: 'Ada Lovelace', email: 'ada@example.org' };
  const { personId } = await daemon.call('POST', '/api/people', ada);
  for (const text of ['love', 'COUNT', 'example.org', personId])
    expect((await daemon.run(['search', text, '--json'])).json.people).toMatchObject({ total: 1, list: [ada] });
  const { stdout } = await daemon.run(['search', 'lovelace']);
  expect(stdout).toMatch(/^Persons \(1\)\n.*countess +Ada Lovelace/s);
  expect((await daemon.run(['search', 'lovelace', '--quiet'])).stdout).toBe(`${personId}\n`);
});

test('groups have titles, and those without a match are left out', async () => {
  const { stdout } = await daemon.run(['search', 'alice']);
  expect(stdout).toMatch(
    /^Devices \(1\)\n.*KEY-ALICE.*\n\nDevices bound to alice \(2\)\n.*\n\nUsers \(1\)\n.*\n\nApplication versions \(1\)\n/s,
  );
  const one = await daemon.run(['search', 'smith@']);
  expect(one.stdout).toMatch(/^Users \(1\)\n/);
  expect(one.stdout).not.toContain('Devices');
});

test('what is not shown is counted, with the command that shows it', async () => {
  const { stdout, stderr } = await daemon.run(['search', 'MANY-', '--limit', '4']);
  expect(stdout).toContain('Devices (13)');
  expect(stdout.match(/MANY-/g)).toHaveLength(4);
  expect(stderr).toContain('9 more: devmgr list --keyword MANY-');
});

test.each([
  ['serial number', 'MANY-1', 'MANY-1'],
  ['deviceId', 'DEV-1', 'KEY-ALICE'],
])('a device whose %s is the text comes first, however many contain it', async (_, text, serial) => {
  const { json } = await daemon.run(['search', text, '--limit', '1', '--json']);
  expect(serialsOf(json.devices)).toEqual([serial]);
  expect(json.devices.total).toBeGreaterThan(1);
});

test('a deviceId behind serial numbers that contain it comes first, too', async () => {
  const { deviceId } = await daemon.register('LAST');
  const early = `A-${Number(deviceId.slice(4)) + 12}`;
  for (let at = 0; at < 11; at++) await daemon.register(`DEV-${early.slice(2)}-${at}`);
  const { deviceId: wanted } = await daemon.register('WANTED');
  expect(wanted).toBe(`DEV-${early.slice(2)}`);
  const { json } = await daemon.run(['search', wanted, '--json']);
  expect(json.devices.list[0]).toMatchObject({ deviceId: wanted, serialNumber: 'WANTED' });
  expect(Object.keys(json.devices.list[0]).sort()).toEqual(Object.keys(json.devices.list[1]).sort());
});

test('--quiet writes ids, each once', async () => {
  const { stdout } = await daemon.run(['search', 'alice', '--quiet']);
  expect(stdout.trim().split('\n')).toEqual(['DEV-1', 'DEV-15', 'USR-2', 'APP-1']);
});

test('nothing that matches is exit code 5, also with --json and --quiet', async () => {
  const found = await daemon.run(['search', 'no such thing']);
  expect(found).toMatchObject({ code: 5, stdout: '' });
  expect(found.stderr).toContain('Nothing matches "no such thing"');
  const json = await daemon.run(['search', 'no such thing', '--json']);
  expect(json).toMatchObject({ code: 5, stderr: '', json: { devices: { total: 0, list: [] }, users: { total: 0 } } });
  expect(await daemon.run(['search', 'no such thing', '--quiet'])).toMatchObject({ code: 5, stdout: '', stderr: '' });
  expect((await daemon.run(['search', ' '])).code).toBe(2);
});

test('without the role ADMIN users are not searched, and the answer reports this', async () => {
  const run = (...args: string[]) => devmgr(['search', ...args], { home: daemon.home, env: { DEVMGR_TOKEN: viewer } });
  const { code, stdout, stderr } = await run('alice');
  expect(code).toBe(0);
  expect(stdout).not.toContain('Users');
  expect(stderr).toContain('only an ADMIN can list them');
  expect(stderr).toContain('a VIEWER cannot list them');
  expect((await run('alice', '--json')).json).toMatchObject({ users: null, people: null });
});

test('a registry with very many users takes few requests, and the answer shows what was left out', async () => {
  const paths: string[] = [];
  const pagination = { page: 1, size: 100, total: 5_000_000, totalPages: 50_000 };
  const server = createServer((request, response) => {
    paths.push(request.url!);
    const isUsers = request.url!.includes('/users/');
    const user = {
      id: `USR-${paths.length}`,
      username: 'x',
      role: 'VIEWER',
      email: null,
      disabled: false,
      createdAt: '',
    };
    const none = { page: 1, size: 100, total: 0, totalPages: 0 };
    response.end(success(isUsers ? { list: [user], pagination } : { list: [], pagination: none }));
  });
  const { url } = await listening(server);
  const run = devmgr(['search', 'nothing', '--server', url], {
    home: temporaryFolder(),
    env: { DEVMGR_TOKEN: 'token' },
  });
  const { stderr } = await run;
  expect(stderr).toContain('Only the newest 500 users were searched');
  expect(paths.length).toBeLessThanOrEqual(15);
});

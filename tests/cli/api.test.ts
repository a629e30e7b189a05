/** `devmgr api` calls any operation, named by method and path or by its operationId. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { RouteShape } from '../../src/contract/define.ts';
import { routes } from '../../src/contract/routes.ts';
import { type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  for (let n = 1; n <= 3; n++) await daemon.register(`API-${n}`);
  await daemon.call('POST', '/api/people', { userName: 'ada' });
});
afterAll(() => discard(daemon));

const api = (words: readonly string[], options: object = {}) => daemon.run(['api', ...words], options);

test.each([
  [['/api/devices/DEV-1'], 'API-1'],
  [['api/devices/DEV-2'], 'API-2'],
  [['GET', '/api/devices/DEV-3'], 'API-3'],
  [['getDevice', '--field', 'deviceId=DEV-1'], 'API-1'],
])('%j is one device', async (words, serialNumber) => {
  const { code, stdout } = await api(words);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ serialNumber });
});

test('fields are the query of a list, and all its pages are lines that --jq selects from', async () => {
  const filtered = await api(['/api/devices/list', '--field', 'keyword=API-2']);
  expect(JSON.parse(filtered.stdout).list).toMatchObject([{ serialNumber: 'API-2' }]);
  expect((await api(['/api/devices/list?keyword=API-2', '--jq', '.pagination.total'])).stdout).toBe('1\n');
  const all = await api(['listDevices', '--field', 'size=1', '--paginate', '--jq', '.serialNumber']);
  expect(all.stdout.trimEnd().split('\n').sort()).toEqual(['API-1', 'API-2', 'API-3']);
});

test('fields or standard input are the body of a change', async () => {
  const device = { deviceType: 'UKEY', serialNumber: 'API-4', manufacturer: 'A', model: "'7'" };
  const fields = Object.entries(device).flatMap(([name, value]) => ['--field', `${name}=${value}`]);
  const made = JSON.parse((await api(['/api/devices/register', ...fields])).stdout);
  expect(await daemon.call('GET', `/api/devices/${made.deviceId}`)).toMatchObject({
    serialNumber: 'API-4',
    model: '7',
  });
  const body = JSON.stringify({ username: 'api.made', password: 'a long password', role: 'VIEWER' });
  const user = await api(['POST', '/api/users', '--body', '-'], { input: body });
  expect({ code: user.code, made: JSON.parse(user.stdout) }).toMatchObject({ code: 0, made: { username: 'api.made' } });
});

const shapes = Object.values<RouteShape>(routes);
test('a response without the envelope is marked where the command line reads it', () => {
  const marked = shapes.filter(({ withoutEnvelope }) => withoutEnvelope).map(({ id }) => id);
  expect(marked).toEqual(shapes.filter(({ raw }) => raw).map(({ id }) => id));
});

describe('every operation that reads', () => {
  const ids: Readonly<Record<string, string>> = { deviceId: 'DEV-1', userId: 'USR-1', personId: 'PER-1' };
  // For want of a parameter, and of the role HOLDER; others do not find what the path names.
  const refused: Readonly<Record<string, number>> = {
    getLatestAppVersion: 2,
    listOwnDevices: 4,
    listOwnDeviceEvents: 4,
  };
  const ofHardware = (shape: RouteShape) => shape.path.startsWith('/api/hardware/');
  const reads = shapes.filter(shape => shape.method === 'GET' && !shape.raw && !shape.websocket && !ofHardware(shape));
  test.each(reads.map(({ id, path }) => [id, path] as const))('%s: --jq selects from the data', async (id, path) => {
    const params = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => ['--field', `${name}=${ids[name!] ?? 'X'}`]);
    const { code, stdout } = await api([id, ...params, '--jq', 'if type == "object" then has("data") else false end']);
    if (code === 0) expect(stdout).toBe('false\n');
    else expect(code, stdout).toBe(refused[id] ?? 5);
  });
});

test('a document in JSON is written as data is, and other text as it is', async () => {
  const { code, stdout } = await api(['getOpenapiJson', '--jq', '.openapi']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^3\./) });
  expect((await api(['getOpenapiYaml'])).stdout).toMatch(/^openapi: /);
  expect(await api(['getOpenapiYaml', '--jq', '.openapi'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('getOpenapiYaml returns text, not JSON'),
  });
});

describe('is refused before anything is sent', () => {
  test.each([
    [['toString'], 'no such operation: GET /toString'],
    [['/api/nothing'], 'no such operation: GET /api/nothing'],
    [['PUT', '/api/users'], 'this path has'],
    [['getDevice'], 'getDevice needs --field deviceId=VALUE'],
    [['streamNotifications'], 'streamNotifications is a WebSocket'],
    [['/api/users', '--field', 'password=abcdefgh'], 'other users of this machine can see arguments'],
    [['/api/devices/DEV-1', '--paginate'], 'getDevice has no pages'],
    [['/api/devices/DEV-1', '--field', 'x'], 'is not NAME=VALUE'],
    [['POST', '/api/users', '--body', '-'], 'standard input is not a JSON object'],
  ])('%j', async (words, message) => {
    const { code, stderr } = await api(words, { input: '[]' });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(stderr).not.toContain('abcdefgh');
  });
});

test('an error of the registry is that of any command', async () => {
  expect(await api(['/api/devices/DEV-999'])).toMatchObject({ code: 5 });
});

describe('with several addresses', () => {
  const dead = 'http://127.0.0.1:1';
  const at = (words: readonly string[], options: object = {}) =>
    api([...words, '--server', `${dead},${daemon.url}`], { env: { DEVMGR_TOKEN: daemon.token }, ...options });

  test.each([
    ['a read', ['/api/devices/DEV-1']],
    ['a change', ['PUT', '/api/devices/DEV-1', '--field', 'note=drawer']],
    ['pages', ['listDevices', '--field', 'size=1', '--paginate']],
    ['a file', ['exportDevices']],
    ['attached keys', ['listKeys']],
  ])('%s uses the one that answers', async (_, words) => {
    const { code, stdout, stderr } = await at(words);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(`using ${daemon.url}`) });
    expect(stdout).not.toBe('');
  });
});

test('attached keys are those of this machine, over its socket, also if the registry is elsewhere', async () => {
  const here = await startDaemon({ args: ['--simulate-keys', '1'] });
  onTestFinished(() => discard(here));
  const file = join(here.home, 'daemon.json');
  // Nothing listens at its address: it is reached by its socket alone.
  const hardware = 'http://127.0.0.1:1';
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), url: hardware }));
  const servers = ['--server', `http://127.0.0.1:2,${daemon.url}`, '--hardware', hardware];
  const ask = (...words: string[]) => here.run(['api', ...words, ...servers], { env: { DEVMGR_TOKEN: daemon.token } });
  const { code, json } = await ask('/api/hardware/keys');
  expect({ code, json }).toMatchObject({ code: 0, json: { list: [{ serialNumber: 'SIM-UKEY-0001' }] } });
  const body = { step: 'name', relyingParty: `${'0'.repeat(32)}.devmgr.invalid` };
  const fields = Object.entries(body).flatMap(([name, value]) => ['--field', `${name}=${value}`]);
  const identified = await ask('POST', `/api/hardware/keys/${json.list[0].keyId}/identify`, ...fields);
  expect(identified.json).toHaveProperty('problem');
  expect((await ask('/api/devices/DEV-2')).json).toMatchObject({ serialNumber: 'API-2' });
});

/** `devmgr api` calls any operation, named by method and path or by its operationId. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  for (let n = 1; n <= 3; n++) await daemon.register(`API-${n}`);
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

test('a document is written as it is', async () => {
  const { code, stdout } = await api(['getOpenapiJson']);
  expect({ code, version: JSON.parse(stdout).openapi }).toEqual({ code: 0, version: expect.stringMatching(/^3\./) });
});

describe('is refused before anything is sent', () => {
  test.each([
    [['toString'], 'no such operation: GET /toString'],
    [['/api/nothing'], 'no such operation: GET /api/nothing'],
    [['PUT', '/api/users'], 'this path has'],
    [['getDevice'], 'getDevice needs --field deviceId=VALUE'],
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

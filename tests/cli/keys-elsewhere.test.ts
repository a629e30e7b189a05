/** Keys of this machine and a remote registry: that registry decides which device a key is. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { adminPassword, type Daemon, discard, startDaemon } from './program.ts';

let here: Daemon;
let registry: Daemon;
let there: string[];

beforeEach(async () => {
  here = await startDaemon({ args: ['--simulate-keys', '2'] });
  registry = await startDaemon();
  there = ['--server', registry.url, '--hardware', here.url];
  const login = ['login', 'admin', '--password-stdin', '--server', registry.url];
  expect((await here.run(login, { input: adminPassword })).code).toBe(0);
});
afterEach(() => Promise.all([discard(here), discard(registry)]));

const register = async (daemon: Daemon, deviceType: string, serialNumber: string) =>
  (await daemon.call('POST', '/api/devices/register', { deviceType, serialNumber, manufacturer: 'M', model: 'N' }))
    .deviceId as string;

test('keys are looked up in the registry, not among the devices of the hardware service', async () => {
  await register(registry, 'UKEY', 'ANOTHER-1');
  const deviceId = await register(registry, 'UKEY', 'SIM-UKEY-0001');
  // Ends when both keys are attached.
  const { rows } = await here.run(['enroll', '--dry-run', '--count', '2', '--json', ...there]);
  const simkey: string = rows.find(row => row.deviceType === 'SIMKEY').serialNumber;
  await register(here, 'SIMKEY', simkey);

  const { json, code } = await here.run(['keys', '--json', ...there]);
  expect(code).toBe(0);
  expect(json.registryError).toBeUndefined();
  expect(json.list.map((key: { serialNumber: string; device: unknown }) => [key.serialNumber, key.device])).toEqual([
    ['SIM-UKEY-0001', { deviceId, status: 'INACTIVE' }],
    [simkey, null],
  ]);
  const { stdout } = await here.run(['keys', ...there]);
  expect(stdout).toMatch(new RegExp(`SIM-UKEY-0001 +${deviceId} +INACTIVE`));
  expect(stdout).toMatch(new RegExp(`${simkey} +not registered`));
});

test('keys --watch and --plugged look keys up there, too', async () => {
  const deviceId = await register(registry, 'UKEY', 'SIM-UKEY-0001');
  const watching = here.start(['keys', '--watch', '--json', ...there]);
  const [lines] = await watching.until('stdout', /.*\n.*\n/);
  const told = lines!
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).data);
  expect(told.map(key => key.device?.deviceId ?? null)).toEqual([deviceId, null]);
  watching.child.kill('SIGINT');
  await watching.ended;

  const { stderr } = await here.run(['show', '--plugged', ...there]);
  expect(stderr).toMatch(new RegExp(`${deviceId} +UKEY +SIM-UKEY-0001`));
  expect(stderr).toMatch(/\(not registered\) +SIMKEY/);
});

test('keys are listed if the registry cannot be asked, with unknown registration', async () => {
  await register(registry, 'UKEY', 'SIM-UKEY-0001');
  await here.run(['logout', '--server', registry.url]);
  const { code, stdout, stderr } = await here.run(['keys', ...there]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/SIM-UKEY-0001 +unknown/);
  expect(stderr).toMatch(/it is unknown whether the keys are registered: not logged in/);
  const { json } = await here.run(['keys', '--json', ...there]);
  expect(json.registryError.message).toMatch(/not logged in/);
});

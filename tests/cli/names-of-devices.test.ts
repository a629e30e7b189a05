/** Names of devices on the command line: a serial number of the form of a deviceId is refused, and a name of two devices as well. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerBefore } from '../support/registered-before.ts';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  const { home } = daemon;
  await daemon.end('SIGTERM');
  // DEV-1 has the serial number DEV-2, DEV-2 another one, DEV-3 that of itself, DEV-4 that of no device.
  await registerBefore(home, 'DEV-2', 'UK-2', 'DEV-3', 'DEV-77');
  daemon = await startDaemon({ home });
});
afterAll(() => discard(daemon));

const fileOf = (text: string) => {
  const file = join(temporaryFolder(), 'names.csv');
  writeFileSync(file, text);
  return file;
};
const stateOf = async (deviceId: string) => (await daemon.call('GET', `/api/devices/${deviceId}`)).status;

describe('a name that is the deviceId of one device and the serial number of another one', () => {
  test.each([
    ['show', 'DEV-2'],
    ['history', 'DEV-2'],
    ['update', 'DEV-2', '--note', 'x'],
    ['lock', 'DEV-2', '--reason', 'lost'],
    ['lock', 'DEV-3', 'DEV-2', '--reason', 'lost', '--yes'],
    ['deactivate', 'DEV-2', '--reason', 'lost', '--dry-run'],
    ['label', 'DEV-2', '--dry-run'],
    ['events', '--device', 'DEV-2'],
    ['daemon', 'audit', '--device', 'DEV-2'],
  ])('%s %s: is refused with both', async (...args) => {
    const { code, stdout, stderr } = await daemon.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/DEV-2"? names two devices: DEV-2.*DEV-1/s);
    expect(await stateOf('DEV-2')).toBe('INACTIVE');
  });

  test('in a list fails alone, and a column for serial numbers names one device', async () => {
    const list = await daemon.run([
      'replace-code',
      '--file',
      fileOf('DEV-2\nUK-2\n'),
      '--reason',
      'x',
      '--yes',
      '--json',
    ]);
    expect(list.code).toBe(7);
    expect(list.rows).toMatchObject([
      { status: 'failed', message: expect.stringContaining('names two devices') },
      { status: 'success', deviceId: 'DEV-2' },
    ]);
    const column = fileOf('serialNumber,x\nDEV-2,\n');
    const { rows } = await daemon.run(['replace-code', '--file', column, '--reason', 'x', '--yes', '--json']);
    expect(rows).toMatchObject([{ status: 'success', deviceId: 'DEV-1' }]);
  });

  test('in a long list is found by one export', async () => {
    const absent = Array.from({ length: 30 }, (_, i) => `DEV-${1000 + i}`);
    const file = fileOf([...absent, 'DEV-2', 'DEV-77'].join('\n'));
    const { rows } = await daemon.run(['replace-code', '--file', file, '--reason', 'x', '--yes', '--json']);
    expect(rows.slice(0, 30).every(row => row.code === 2001)).toBe(true);
    expect(rows.slice(30)).toMatchObject([
      { message: expect.stringContaining('names two devices') },
      { status: 'success', deviceId: 'DEV-4' },
    ]);
  });
});

test('a device is found by a serial number of the form of a deviceId that no device has', async () => {
  expect((await daemon.run(['show', 'DEV-77', '--json'])).json.deviceId).toBe('DEV-4');
  expect((await daemon.run(['update', 'DEV-77', '--note', 'x'])).code).toBe(0);
  expect((await daemon.run(['show', 'DEV-3', '--json'])).json.deviceId).toBe('DEV-3');
  expect((await daemon.run(['show', 'DEV-78'])).code).toBe(5);
});

describe('a new serial number of the form of an id is refused', () => {
  const single = (serial: string) => ['register', '--type', 'UKEY', '--serial', serial, '-m', 'A', '--model', 'B'];
  test.each(['DEV-3', 'dev-0', 'Usr-12', 'PER-1', 'app-007', 'BKP-99'])('%s', async serial => {
    const { code, stderr } = await daemon.run(single(serial).map(word => (word === '-m' ? '--manufacturer' : word)));
    expect(code).toBe(2);
    expect(stderr).toContain('not of the form of an id');
    const item = { deviceType: 'UKEY', serialNumber: serial, manufacturer: 'A', model: 'B' };
    await expect(daemon.call('POST', '/api/devices/register', item)).rejects.toThrow(/1001.*serialNumber/);
    const batch = await daemon.call('POST', '/api/devices/batch-register', { devices: [item] });
    expect(batch.results).toMatchObject([{ status: 'failed', code: 1001, serialNumber: serial }]);
    const file = fileOf(`deviceType,serialNumber,manufacturer,model\nUKEY,${serial},A,B\n`);
    const { rows } = await daemon.run(['register', '--file', file, '--json']);
    expect(rows).toMatchObject([{ status: 'failed', field: 'serialNumber' }]);
  });

  test.each(['DEV-', 'DEV-3x', 'XDEV-3', 'DEV3', 'DEV-3-1', 'TOK-1', 'DEV_3'])('and %s is not', async serial => {
    const item = { deviceType: 'UKEY', serialNumber: serial, manufacturer: 'A', model: 'B' };
    expect(await daemon.call('POST', '/api/devices/register', item)).toMatchObject({ serialNumber: serial });
  });
});

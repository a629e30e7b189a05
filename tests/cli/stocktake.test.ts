/** `devmgr stocktake`: scanned numbers beside the devices that should be there. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminPassword, type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let runs = 0;
/** Devices of a site, by serial number; two more are elsewhere. */
async function stock() {
  const site = `site${++runs}`;
  const serials = Array.from({ length: 4 }, (_, n) => `1${runs}00${n}`);
  const device = (serialNumber: string, at: string) => ({
    ...{ deviceType: 'UKEY', serialNumber, manufacturer: 'Acme', model: 'One', tags: { site: at } },
  });
  const devices = [
    ...serials.map(serial => device(serial, site)),
    device(`2${runs}000`, 'paris'),
    device(`Uk-${runs}`, site),
  ];
  const { failed } = await daemon.call('POST', '/api/devices/batch-register', { devices });
  expect(failed).toBe(0);
  const folder = temporaryFolder();
  const scans = (text: string, name = 'scans.txt') => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return { site, serials, other: `2${runs}000`, letters: `Uk-${runs}`, scans, plan: join(folder, 'missing.plan') };
}

const shown = (rows: readonly { status: string; serialNumber: string; line?: number }[]) =>
  rows.map(({ status, serialNumber, line }) =>
    [status, serialNumber, line].filter(part => part !== undefined).join(' '),
  );
const tagsOf = async (serial: string) =>
  (await daemon.call('GET', `/api/devices/list?serialNumber=${serial}`)).list[0].tags as Record<string, string>;

test('tells present, missing, elsewhere, unknown and invalid apart, and a repeated number counts once', async () => {
  const { site, serials, other, letters, scans } = await stock();
  const file = scans(`${serials[0]}\r\n${serials[0]}\r\n${other}\r\n8,94944E+18\r\n99999999\r\n${serials[1]}\r\n`);
  const { code, rows } = await daemon.run(['stocktake', file, '--tag', `site=${site}`, '--json']);
  expect(code).toBe(7);
  expect(shown(rows)).toEqual([
    'invalid 8 4',
    `present ${serials[0]} 1`,
    `present ${serials[1]} 6`,
    `missing ${serials[2]}`,
    `missing ${serials[3]}`,
    `missing ${letters}`,
    `elsewhere ${other} 3`,
    'unknown 99999999 5',
  ]);
  expect(rows[6].message).toBe('tag site is paris');
});

test('asks about a number that differs in case or leading zeros, and takes it with --similar', async () => {
  const { site, serials, letters, scans } = await stock();
  const file = scans(`${[`0${serials[0]}`, ...serials.slice(1), letters.toUpperCase()].join('\n')}\n`);
  const args = ['stocktake', file, '--tag', `site=${site}`, '--json'];
  const asked = await daemon.run(args);
  expect([asked.code, shown(asked.rows).slice(3)]).toEqual([7, [`unclear ${serials[0]} 1`, `unclear ${letters} 5`]]);
  expect(asked.rows[3].message).toContain('--similar');
  const taken = await daemon.run([...args, '--similar']);
  expect([taken.code, taken.rows.every(({ status }) => status === 'present')]).toEqual([0, true]);
});

test('a number that is exactly that of another device is not a similar one', async () => {
  const { site, serials, letters, scans } = await stock();
  const twin = letters.toUpperCase();
  await daemon.call('POST', '/api/devices/register', {
    ...{ deviceType: 'UKEY', serialNumber: twin, manufacturer: 'Acme', model: 'One', tags: { site } },
  });
  const { rows } = await daemon.run([
    'stocktake',
    scans(`${twin}\n${serials.join('\n')}\n`),
    '--tag',
    `site=${site}`,
    '--json',
  ]);
  expect(shown(rows)).toContain(`present ${twin} 1`);
  expect(shown(rows)).toContain(`missing ${letters}`);
});

test('tags what was seen with the date, wherever it was, and names what cannot be tagged', async () => {
  const { site, serials, other, scans } = await stock();
  const locked = (await daemon.call('GET', `/api/devices/list?serialNumber=${serials[1]}`)).list[0];
  await daemon.call('POST', '/api/devices/activate', { ...locked, userId: 'ada' });
  await daemon.call('POST', `/api/devices/${locked.deviceId}/lock`, { reason: 'lost' });
  const file = scans(`${serials[0]}\n${serials[1]}\n${other}\n`);
  const { stderr } = await daemon.run(['stocktake', file, '--tag', `site=${site}`, '--seen-tag', 'seen', '--csv']);
  expect(stderr).toMatch(/2 devices tagged seen=\d{4}-\d\d-\d\d\.[\s\S]*1 device could not be tagged: .* is locked/);
  expect(await tagsOf(serials[0]!)).toEqual({ site, seen: expect.stringMatching(/^20\d\d-/) });
  expect(await tagsOf(other)).toMatchObject({ seen: expect.any(String) });
  expect(await tagsOf(serials[2]!)).toEqual({ site });
});

test('writes a plan for the missing devices, which cleanup apply carries out', async () => {
  const { site, serials, letters, scans, plan } = await stock();
  const file = scans(`${serials[0]}\n${serials[1]}\n`);
  const args = [
    'stocktake',
    file,
    '--tag',
    `site=${site}`,
    '--plan',
    plan,
    '--action',
    'deactivate',
    '--reason',
    'gone',
  ];
  expect((await daemon.run(args)).code).toBe(7);
  const password = ['--password-stdin'];
  const applied = await daemon.run(['cleanup', 'apply', plan, '--yes', ...password], { input: adminPassword });
  expect(applied.code).toBe(0);
  const states = Object.fromEntries(
    (await daemon.call('GET', `/api/devices/list?tag=site:${site}`)).list.map(
      ({ serialNumber, status }: { serialNumber: string; status: string }) => [serialNumber, status],
    ),
  );
  expect(states).toEqual({
    ...{ [serials[0]!]: 'INACTIVE', [serials[1]!]: 'INACTIVE' },
    ...{ [serials[2]!]: 'DEACTIVATED', [serials[3]!]: 'DEACTIVATED', [letters]: 'DEACTIVATED' },
  });
});

test('writes no plan if a line cannot be read, and leaves unclear devices out of one', async () => {
  const { site, serials, scans, plan } = await stock();
  const args = ['--tag', `site=${site}`, '--plan', plan, '--action', 'lock', '--reason', 'gone'];
  const broken = await daemon.run(['stocktake', scans(`${serials[0]}\n8.94944E+18\n`), ...args]);
  expect([broken.code, existsSync(plan)]).toEqual([2, false]);
  await daemon.run([
    'stocktake',
    scans(`0${serials[0]}\n`),
    '--tag',
    `site=${site}`,
    ...args.slice(2, 4),
    '--action',
    'deactivate',
    '--reason',
    'gone',
  ]);
  expect(readFileSync(plan, 'utf8')).not.toContain(serials[0]);
  expect(readFileSync(plan, 'utf8')).toContain(serials[1]);
});

test('reads a table with a column of serial numbers, and refuses a file without one', async () => {
  const { site, serials, letters, scans } = await stock();
  const file = scans(`Time;Serial\n${[...serials, letters].map(serial => `09:41;${serial}\n`).join('')}`, 'scans.csv');
  const { code, stdout } = await daemon.run(['stocktake', file, '--tag', `site=${site}`, '--csv']);
  expect([code, stdout.split('\n')[1]]).toEqual([
    0,
    expect.stringMatching(new RegExp(`^present,${serials[0]},DEV-\\d+,INACTIVE,,2,present$`)),
  ]);
  expect((await daemon.run(['stocktake', scans('Time;Place\n09:41;A\n', 'x.csv')])).code).toBe(2);
  expect((await daemon.run(['stocktake', scans('')])).code).toBe(2);
});

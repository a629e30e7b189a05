/** Devices without a person are given to persons by a file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let made = 0;
async function boundTo(userId: string): Promise<string> {
  const device = { deviceType: 'UKEY', serialNumber: `MATCH-${++made}`, manufacturer: 'Feitian', model: 'K9' };
  const { deviceId, activationCode } = await daemon.call('POST', '/api/devices/register', device);
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId });
  return deviceId;
}
const personOf = async (deviceId: string) => (await daemon.call('GET', `/api/devices/${deviceId}`)).personId;
const match = (...words: string[]) => daemon.run(['people', 'match', ...words]);

test('a file names each device, is edited, shown, carried out, and carried out again', async () => {
  const [ada, ben, room] = [await boundTo('Zoë Adams'), await boundTo('Ben Oak'), await boundTo('printer room')];
  for (const [user, name] of [
    ['z.adams', 'Zoe Adams'],
    ['ben1', 'Ben Oak'],
    ['ben2', 'Ben Oak'],
  ] as const)
    expect(await daemon.run(['people', 'add', user, '--name', name])).toMatchObject({ code: 0 });
  const file = join(temporaryFolder(), 'holders.csv');
  const written = await match('--out', file);
  expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining('3 devices written') });
  const [header, ...rows] = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(header).toBe('deviceId,userId,person,candidates');
  const rowOf = (id: string) => rows.find(row => row.startsWith(`${id},`))!;
  expect(rowOf(ada)).toBe(`${ada},Zoë Adams,PER-1,z.adams PER-1 (name)`);
  expect(rowOf(ben)).toContain(`${ben},Ben Oak,,ben1 PER-2 (name); ben2 PER-3 (name)`);
  expect(rowOf(room)).toBe(`${room},printer room,,`);
  expect(await match('--out', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('exists') });

  writeFileSync(file, readFileSync(file, 'utf8').replace(`${ben},Ben Oak,,`, `${ben},Ben Oak,BEN2,`));
  const draft = await match('--file', file, '--dry-run');
  expect(draft).toMatchObject({ code: 0, stderr: expect.stringContaining('2 devices would be given') });
  expect(draft.stdout.split('\n').sort()).toEqual(
    ['', `${ada} (Zoë Adams) → z.adams PER-1`, `${ben} (Ben Oak) → ben2 PER-3`].sort(),
  );
  expect(await personOf(ada)).toBeNull();

  for (let run = 0; run < 2; run++) expect(await match('--file', file, '--apply', '--yes')).toMatchObject({ code: 0 });
  expect(await Promise.all([ada, ben, room].map(personOf))).toEqual(['PER-1', 'PER-3', null]);
});

test('a row that the registry contradicts is named, and the others are carried out', async () => {
  const [moved, right] = [await boundTo('old name'), await boundTo('right name')];
  await daemon.run(['people', 'add', 'carla']);
  const file = join(temporaryFolder(), 'holders.csv');
  const rows = [`${moved},earlier name,carla`, `${right},right name,carla`, `${right},right name,carla`];
  writeFileSync(file, ['deviceId,userId,person', ...rows, `${moved},old name,nemo`, ''].join('\n'));
  const { code, stderr } = await match('--file', file, '--apply', '--yes');
  expect(code).toBe(7);
  expect(stderr).toContain(`line 2: ${moved}: it is now bound to old name, not to earlier name`);
  expect(stderr).toContain('line 4');
  expect([await personOf(moved), await personOf(right)]).toEqual([null, expect.stringMatching(/^PER-/)]);
  const asked = await match('--file', file, '--apply');
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
  writeFileSync(file, 'deviceId,userId,person\nDEV-1,x,\n');
  expect(await match('--file', file, '--apply')).toMatchObject({ code: 2 });
  expect(existsSync(file)).toBe(true);
});

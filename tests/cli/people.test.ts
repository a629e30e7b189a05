/** Persons and leavers on the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { personColumns } from '../../src/cli/commands/people/people.ts';
import { plain } from '../../src/cli/terminal/style.ts';
import { table } from '../../src/cli/terminal/table.ts';
import type { Person } from '../../src/contract/people.ts';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  await run('people', 'add', 'ada.lovelace', '--name', 'Ada Lovelace', '--email', 'ada@example.com');
  await run('people', 'add', 'grace.hopper', '--name', 'Grace Hopper');
});
afterAll(() => discard(daemon));

const run = (...words: string[]) => daemon.run(words);
let made = 0;
const registered = (): Promise<{ deviceId: string; activationCode: string }> => {
  const device = { deviceType: 'UKEY', serialNumber: `PEOPLE-${++made}`, manufacturer: 'Feitian', model: 'K9' };
  return daemon.call('POST', '/api/devices/register', device);
};
/** A key that is bound to a user name with `activate`. */
const bound = async (user: string): Promise<string> => {
  const { deviceId, activationCode } = await registered();
  expect(await run('activate', deviceId, '--code', activationCode, '--user', user)).toMatchObject({ code: 0 });
  return deviceId;
};

describe('people', () => {
  test('are listed, and found by user name, id and a part of the name', async () => {
    const { stdout } = await run('people', 'list');
    expect(stdout).toMatch(/^PERSON +USER NAME +NAME +STATE +KEYS/);
    expect(stdout).toMatch(/PER-1 +ada\.lovelace +Ada Lovelace +active +0/);
    expect((await run('people', 'list', '--keyword', 'hopper', '--quiet')).stdout).toBe('PER-2\n');
    for (const name of ['ada.lovelace', 'ADA.LOVELACE', 'PER-1', 'lovelace'])
      expect((await run('people', 'show', name, '--json')).json.userName).toBe('ada.lovelace');
    expect(await run('people', 'show', 'nemo')).toMatchObject({ code: 5 });
    const unknown = await run('people', 'show', 'PER-99');
    expect(unknown).toMatchObject({ code: 5, stderr: expect.stringContaining('person does not exist: PER-99') });
    expect((await run('people', 'list', '--left')).stderr).toContain('No person matches.');
    const several = await run('people', 'show', 'a');
    expect(several.code).toBe(2);
    expect(several.stderr).toContain('ada.lovelace (Ada Lovelace)');
  });

  test('keep whole user names on a narrow terminal, which leaves columns out', async () => {
    const person = (await run('people', 'show', 'PER-1', '--json')).json as Person;
    const text = await table(personColumns, [{ ...person, email: 'a.long.address@example.com' }], 60, plain);
    expect(text).toMatch(/PER-1 +ada\.lovelace +Ada Lovelace +active/);
    expect(Math.max(...text.split('\n').map(line => line.length))).toBeLessThanOrEqual(60);
  });

  test('are refused twice', async () => {
    const stderr = expect.stringContaining('user name ADA.lovelace already exists');
    expect(await run('people', 'add', 'ADA.lovelace')).toMatchObject({ code: 2, stderr });
  });

  test('own keys: activate takes the user name as the person has it', async () => {
    const deviceId = await bound('Ada.Lovelace');
    expect((await run('people', 'devices', 'lovelace', '--quiet')).stdout).toBe(`${deviceId}\n`);
    expect((await run('people', 'devices', 'hopper')).stderr).toContain('grace.hopper (Grace Hopper) has no keys.');
  });

  test('activate refuses a part of names and shows who may be meant; other texts are bound as they are', async () => {
    const activate = async (user: string) => {
      const { deviceId, activationCode } = await registered();
      const { code, stderr } = await run('activate', deviceId, '--code', activationCode, '--user', user);
      return { code, stderr, userId: (await daemon.call('GET', `/api/devices/${deviceId}`)).userId };
    };
    const refused = { code: 2, userId: null };
    expect(await activate('Hopper')).toMatchObject({
      ...refused,
      stderr: expect.stringMatching(
        /no person has the user name "Hopper": grace\.hopper \(Grace Hopper\)[\s\S]*--user grace\.hopper/,
      ),
    });
    await run('people', 'add', 'augusta', '--email', 'augusta.lovelace@example.com');
    expect(await activate('lovelace')).toMatchObject({
      ...refused,
      stderr: expect.stringMatching(/augusta, ada\.lovelace \(Ada Lovelace\)/),
    });
    for (const userId of ['ace', 'warehouse']) expect(await activate(userId)).toEqual({ code: 0, stderr: '', userId });
  });

  test('are named where their keys are shown: show, list, a label', async () => {
    const deviceId = await bound('grace.hopper');
    expect((await run('show', deviceId, '--no-events')).stdout).toMatch(/user: +grace\.hopper \(Grace Hopper\)\n/);
    const list = (...flags: string[]) => run('list', '--user', 'grace.hopper', ...flags);
    expect((await list('-o', 'wide')).stdout).toMatch(/ USER +NAME[\s\S]* grace\.hopper +Grace Hopper/);
    expect((await list()).stdout).not.toContain('Grace');
    expect((await list('--fields', 'deviceId,userId,name', '--csv')).stdout).toContain(
      `${deviceId},grace.hopper,Grace Hopper\n`,
    );
    const all = await run('list', '--all', '--json', '--fields', 'userId,name');
    expect(all.stdout.split('\n')).toContain('{"userId":"grace.hopper","name":"Grace Hopper"}');
    expect(all.stdout.split('\n')).toContain('{"userId":"warehouse","name":null}');
    const template = join(temporaryFolder(), 'name.zpl');
    writeFileSync(template, '^XA^FD{name}^FS^XZ');
    const label = await run('label', deviceId, '--template', template, '--dry-run');
    expect(label.stdout).toContain('Grace Hopper');
    const labels = await run('label', '--filter', 'user=grace.hopper', '--template', template, '--dry-run');
    expect(labels.stdout).toContain('Grace Hopper');
  });

  test('are named in an export and in a report with --names', async () => {
    const deviceId = await bound('grace.hopper');
    const exported = (...flags: string[]) => run('export', '--user', 'grace.hopper', ...flags);
    expect(JSON.parse((await exported('--names')).stdout.split('\n')[0]!)).toMatchObject({ name: 'Grace Hopper' });
    expect((await exported()).stdout).not.toContain('Grace');
    expect((await exported('--names', '--csv')).stdout).toMatch(/,lastUsedAt,name\n.*,Grace Hopper\n/);
    expect((await exported('--fields', 'deviceId,name')).stdout).toContain(
      `{"deviceId":"${deviceId}","name":"Grace Hopper"}\n`,
    );
    const report = (...flags: string[]) => run('report', '--keyword', 'PEOPLE-', '--status', 'ACTIVE', ...flags);
    expect((await report('--json')).json).not.toHaveProperty('byPerson');
    const { byPerson, otherPersons } = (await report('--names', '--json')).json;
    expect(byPerson).toContainEqual({ userId: 'grace.hopper', name: 'Grace Hopper', count: 2 });
    expect(byPerson).toContainEqual({ userId: 'warehouse', name: null, count: 1 });
    expect(otherPersons).toBe(0);
    expect((await report('--names')).stdout).toMatch(/By person\n[\s\S]* grace\.hopper \(Grace Hopper\) +2\n/);
    expect((await report('--names', '-o', 'csv')).stdout).toContain('person,grace.hopper (Grace Hopper),2\n');
  });

  test('leave: their keys are locked after a confirmation', async () => {
    await run('people', 'add', 'leaver');
    const deviceId = await bound('leaver');
    const unconfirmed = await run('people', 'leave', 'leaver', '--reason', 'has left');
    expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    const { json } = await run('people', 'leave', 'leaver', '--reason', 'has left', '--yes', '--json');
    expect(json).toMatchObject({
      locked: [deviceId],
      tokens: [],
      accounts: [],
      credentials: [],
      held: [],
      dueAt: null,
    });
    expect((await run('people', 'list', '--left', '--quiet')).stdout).toBe('PER-4\n');
    expect((await run('show', deviceId)).stdout).toMatch(/user: +leaver, left on .* \(source: local\)/);
    expect((await run('people', 'leave', 'leaver', '--reason', 'again', '--yes')).stdout).toContain(
      'no key was ACTIVE',
    );
  });

  test('have left: a key of theirs that is unlocked is remarked on, also among many', async () => {
    const remark = /(DEV-\d+) belongs to leaver, who left on [-: 0-9]+ \(source: local\)\./;
    const deviceId = (await run('people', 'devices', 'leaver', '--quiet')).stdout.trim();
    expect(remark.exec((await run('unlock', deviceId)).stderr)?.[1]).toBe(deviceId);
    const other = await bound('grace.hopper');
    for (const key of [deviceId, other]) await run('lock', key, '--reason', 'has left');
    const { stderr } = await run('unlock', deviceId, other, '--yes');
    expect([...stderr.matchAll(new RegExp(remark, 'g'))].map(([, id]) => id)).toEqual([deviceId]);
    await run('lock', deviceId, '--reason', 'has left');
  });

  test('have a case: what is open is shown, kept with a reason, and then closed', async () => {
    const deviceId = (await run('people', 'devices', 'leaver', '--quiet')).stdout.trim();
    const left = await run('people', 'leave', 'leaver', '--reason', 'again', '--yes');
    expect(left.stdout).toMatch(/still open: +nothing/);
    expect(left.stderr).toMatch(/devmgr people case PER-\d+/);
    await run('unlock', deviceId);
    const open = await run('people', 'case', 'leaver');
    expect(open.stdout).toMatch(new RegExp(`case open[\\s\\S]*device ${deviceId}: +open: ACTIVE`));
    expect(open.stderr).toContain(`people case keep ${left.stderr.match(/PER-\d+/)![0]} device ${deviceId} --reason`);
    expect((await run('people', 'cases')).stdout).toMatch(new RegExp(`leaver.* 1 +0 +device ${deviceId}`));
    expect(await run('people', 'case', 'close', 'leaver')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`1 open item: device ${deviceId}`),
    });
    const keep = ['people', 'case', 'keep', 'leaver', 'device', deviceId];
    expect(await run(...keep)).toMatchObject({ code: 2, stderr: expect.stringContaining('--reason') });
    const { json } = await run(...keep, '--reason', 'shared key', '--json');
    expect(json.items).toEqual([{ kind: 'device', id: deviceId, state: 'kept', reason: 'shared key' }]);
    expect((await run('people', 'case', 'close', 'leaver')).stdout).toContain('case closed');
    expect((await run('people', 'cases', '--csv')).stdout).not.toContain('leaver');
    expect((await run('people', 'cases', '--closed', '--quiet')).stdout).toMatch(/^PER-\d+\n$/);
    const log = (await run('people', 'log', 'leaver', '--json')).json.list;
    expect(log.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['left', 'added']);
    await run('lock', deviceId, '--reason', 'has left');
  });

  test('come back: the keys that could be unlocked are named', async () => {
    const deviceId = (await run('people', 'devices', 'leaver', '--quiet')).stdout.trim();
    const { stdout, stderr } = await run('people', 'back', 'leaver');
    expect(stdout).toMatch(new RegExp(`leaver is back\\n.*still locked: +${deviceId}`));
    expect(stderr).toContain(`devmgr unlock ${deviceId}`);
    expect((await run('people', 'show', 'leaver', '--json')).json.active).toBe(true);
    expect((await run('people', 'back', 'leaver')).stdout).toBe('leaver had not left\n');
  });

  test('held: what the brake has held is listed and released', async () => {
    expect((await run('people', 'leave', 'held')).stderr).toContain('No leaver is held.');
    await run('people', 'add', 'many.keys');
    const keys: string[] = [];
    for (let i = 0; i < 12; i++) keys.push(await bound('many.keys'));
    const { stdout, stderr } = await run('people', 'leave', 'many.keys', '--reason', 'has left', '--yes');
    expect(stdout).toContain(keys[0]);
    expect(stderr).toContain('devmgr people leave release PER-5');
    expect((await run('people', 'leave', 'held', '--quiet')).stdout).toBe('PER-5\n');
    expect(await run('people', 'leave', 'release')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('12 keys'),
    });
    expect((await run('people', 'leave', 'release', '--yes', '--json')).json).toEqual({
      released: ['PER-5'],
      locked: keys,
    });
    expect((await run('people', 'leave', 'release', '--yes')).stderr).toContain('No leaver is held.');
  });
});

describe('policies', () => {
  test('show and set what is required of persons', async () => {
    const before = { personsRequired: false, leavers: 'lock', leaverDelayHours: 0 };
    expect((await run('policies', 'show', '--json')).json).toMatchObject(before);
    const set = await run('policies', 'update', '--persons', 'required', '--leaver-delay', '24', '--json');
    expect(set.json).toMatchObject({ personsRequired: true, leavers: 'lock', leaverDelayHours: 24 });
    expect((await run('policies', 'show')).stdout).toMatch(/persons: +required[\s\S]*keys are locked after 24 hours/);
    const reset = await run('policies', 'update', '--persons', 'any', '--leaver-delay', '0', '--json');
    expect(reset.json).toMatchObject(before);
  });
});

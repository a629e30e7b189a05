/** Devices and accounts are given to persons by a file; a batch is undone; persons are compared with their provider. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEntra } from '../support/issuing-providers.ts';
import { scimClientWith } from '../support/scim.ts';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--webhook-allow', '127.0.0.1'] });
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

test('accounts that no person has the name of are listed, and given to persons by a file', async () => {
  const password = 'correct horse battery';
  const add = (username: string, more: object = {}) =>
    daemon.call('POST', '/api/users', { username, password, role: 'VIEWER', ...more });
  await daemon.run(['people', 'add', 'eva.muller', '--name', 'Eva Müller', '--email', 'eva@example.com']);
  for (const [username, email] of [
    ['Eva.Muller', undefined],
    ['eva-mueller', 'EVA@example.com'],
    ['eva_muller', undefined],
    ['printer', undefined],
  ] as const)
    await add(username, email === undefined ? {} : { email });
  const { id } = await add('gone');
  await daemon.call('PUT', `/api/users/${id}`, { disabled: true });
  const { list } = JSON.parse((await match('--accounts', '--json')).stdout);
  const found = list.map((one: { username: string; candidates: { userName: string }[] }) => [
    one.username,
    ...one.candidates.map(({ userName }) => userName),
  ]);
  expect(found).toEqual(
    expect.arrayContaining([['eva-mueller', 'eva.muller'], ['eva_muller', 'eva.muller'], ['printer']]),
  );
  const names = found.map(([username]: string[]) => username);
  expect(names).not.toContain('Eva.Muller');
  expect(names).not.toContain('gone');
  expect(await match('printer', 'eva.muller', '--accounts')).toMatchObject({ code: 2 });

  const file = join(temporaryFolder(), 'accounts.csv');
  expect(await match('--accounts', '--out', file)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('accounts written'),
  });
  const text = readFileSync(file, 'utf8');
  expect(text.split('\n')[0]).toBe('accountId,username,person,candidates');
  expect(text).toMatch(/USR-\d+,eva_muller,PER-\d+,eva.muller PER-\d+/);
  writeFileSync(file, text.replace(/(USR-\d+),eva-mueller,PER-\d+,/, '$1,eva-mueller,,'));
  const draft = await match('--accounts', '--file', file, '--dry-run');
  expect(draft).toMatchObject({
    stdout: expect.stringContaining('(eva_muller) → eva.muller'),
    stderr: expect.stringContaining('1 account would be given'),
  });
  const ownerOf = async (name: string) => {
    const { list: users } = await daemon.call('GET', '/api/users/list?size=100');
    return users.find(({ username }: { username: string }) => username === name);
  };
  expect((await ownerOf('eva_muller')).personId).toBeUndefined();
  for (let run = 0; run < 2; run++)
    expect(await match('--accounts', '--file', file, '--apply', '--yes')).toMatchObject({ code: 0 });
  expect((await ownerOf('eva_muller')).personId).toMatch(/^PER-/);
  expect((await match('--accounts')).stdout).not.toContain('eva_muller');
  expect(await match('eva-mueller', 'eva.muller', '--accounts', '--apply', '--yes')).toMatchObject({ code: 0 });
  expect((await match('printer', 'nemo', '--accounts', '--apply', '--yes')).code).not.toBe(0);
  expect(await daemon.run(['people', 'leave', 'eva.muller', '--reason', 'gone', '--yes'])).toMatchObject({ code: 0 });
  const states = await Promise.all(['eva_muller', 'eva-mueller', 'Eva.Muller', 'printer'].map(ownerOf));
  expect(states.map(({ disabled }) => disabled)).toEqual([true, true, true, false]);
  expect(await match('printer', 'eva.muller', '--accounts', '--apply', '--yes')).toMatchObject({
    stdout: expect.stringContaining('has left'),
  });
});

test('a batch is shown, is undone after a confirmation, and is as before when it is repeated', async () => {
  const file = join(temporaryFolder(), 'staff.csv');
  writeFileSync(file, 'userId,name,state\nfinn,Finn First,here\ngina,Gina B,here\n');
  expect(await daemon.run(['people', 'import', file])).toMatchObject({ code: 0 });
  const [first, second] = [await boundTo('finn'), await boundTo('gina')];
  writeFileSync(file, 'userId,name,state\nfinn,Finn Second,gone\ngina,Gina B,gone\n');
  expect(await daemon.run(['people', 'import', file, '--leavers', 'state=gone'])).toMatchObject({ code: 0 });
  const { list } = JSON.parse((await daemon.run(['people', 'log', '--json'])).stdout);
  const undo = (...words: string[]) => daemon.run(['people', 'undo', list[0].requestId, ...words]);
  const states = () =>
    Promise.all([first, second].map(async id => (await daemon.call('GET', `/api/devices/${id}`)).status));
  const draft = await undo('--dry-run');
  expect(draft).toMatchObject({ code: 0, stderr: expect.stringContaining('4 changes would be undone') });
  expect(draft.stdout).toContain('(finn): active false → true');
  expect(draft.stdout).toContain(`${first} (finn): status LOCKED → ACTIVE`);
  expect(await undo()).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
  expect(await states()).toEqual(['LOCKED', 'LOCKED']);
  expect(await undo('--yes')).toMatchObject({ code: 0, stderr: expect.stringContaining('4 changes undone') });
  expect(await states()).toEqual(['ACTIVE', 'ACTIVE']);
  const again = await undo('--json');
  expect([again.code, again.rows.map(({ outcome }) => outcome)]).toEqual([0, Array(4).fill('unchanged')]);
  expect(await undo('--until', '1h')).toMatchObject({ code: 2, stderr: expect.stringContaining('--since') });
  expect(await daemon.run(['people', 'undo', 'admin', '--since', '1h', '--until', '1h', '--dry-run'])).toMatchObject({
    stderr: expect.stringContaining('has no changes to undo'),
  });
});

test('persons who are gone or disabled at their provider are listed, and leave after a question', async () => {
  const drift = (...words: string[]) => daemon.run(['people', 'drift', ...words]);
  const none = await drift();
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no provider of type entra or okta')]);
  const { state, settings } = await startEntra();
  await daemon.call('POST', '/api/providers', { name: 'company', ...settings });
  const token = { name: 'drift', role: 'VIEWER', expiresInDays: 1, may: ['scim'] };
  const scim = scimClientWith(() => daemon.url, (await daemon.call('POST', '/api/tokens', token)).token);
  const names = ['here@x.org', 'there@x.org', 'gone@x.org', 'off@x.org'];
  for (const userName of names)
    await scim('POST', '/Users', { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName, active: true });
  const key = await boundTo('gone@x.org');
  state.users = [
    { id: '1', userName: 'here@x.org', isActive: true },
    { id: '2', userName: 'there@x.org', isActive: true },
    { id: '4', userName: 'off@x.org', isActive: false },
  ];
  const listed = await drift();
  expect(listed.code).toBe(0);
  expect(listed.stdout).toMatch(/gone@x\.org +gone +active/);
  expect(listed.stdout).toMatch(/off@x\.org +disabled +active/);
  expect(listed.stdout).not.toContain('here@x.org');
  expect((await daemon.run(['doctor'])).stdout).toContain('2 active persons gone or disabled');
  expect(await drift('--apply')).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
  const done = await drift('--apply', '--yes', '--json');
  const outcomes = JSON.parse(done.stdout).list.map(({ outcome }: { outcome: string }) => outcome);
  expect([done.code, outcomes]).toEqual([0, ['left', 'left']]);
  expect((await daemon.call('GET', `/api/devices/${key}`)).status).toBe('LOCKED');
  expect(await drift()).toMatchObject({ code: 0, stderr: expect.stringContaining('is enabled at the provider') });
});

/** The words that completion offers, as the scripts of the shells ask for it. `completion-shells.test.ts` types in real shells. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandTable } from '../../src/cli/commands/index.ts';
import { offersFor } from '../../src/cli/framework/completion/offers.ts';
import type { Context } from '../../src/cli/framework/context.ts';
import { createProgram } from '../../src/cli/framework/program.ts';
import { answering, json, success } from '../support/http-servers.ts';
import { type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
/** DeviceIds by state. */
const ids: Record<'INACTIVE' | 'ACTIVE' | 'LOCKED' | 'DEACTIVATED', string> = {
  INACTIVE: '',
  ACTIVE: '',
  LOCKED: '',
  DEACTIVATED: '',
};
beforeAll(async () => {
  daemon = await startDaemon();
  for (const state of Object.keys(ids) as (keyof typeof ids)[]) {
    const { deviceId, activationCode } = await daemon.register(`${state}-1`);
    ids[state] = deviceId;
    if (state === 'INACTIVE') continue;
    await daemon.run(['activate', deviceId, '--code', activationCode, '--user', 'alice']);
    if (state === 'LOCKED') await daemon.run(['lock', deviceId, '--reason', 'lost']);
  }
  const retire = ['deactivate', ids.DEACTIVATED, '--reason', 'old', '--yes', '--password-stdin'];
  const { code, stderr } = await daemon.run(retire, { input: 'correct horse battery\n' });
  if (code !== 0) throw new Error(stderr);
});
afterAll(() => discard(daemon));

/** The words that are offered after these; `files` or `folders` if the shell is to complete. */
async function offered(...words: string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await daemon.run(['completion', 'zsh', '--offer', '--', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [kind, ...lines] = stdout.trimEnd().split('\n');
  return kind === 'words' ? lines.map(line => line.split('\t')[0]!) : [kind!];
}

describe('devices', () => {
  test.each([
    ['activate', ['INACTIVE']],
    ['label', ['INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED']],
    ['lock', ['ACTIVE']],
    ['unlock', ['LOCKED']],
    ['replace-code', ['INACTIVE', 'ACTIVE', 'LOCKED']],
    ['deactivate', ['INACTIVE', 'ACTIVE', 'LOCKED']],
    ['show', ['INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED']],
  ] as const)('of %s are those that it does not refuse', async (verb, states) => {
    expect([...(await offered(verb, ''))].sort()).toEqual(states.map(state => ids[state]).sort());
  });

  test('are found by the start of the serial number in upper or lower case', async () => {
    expect(await offered('show', 'lock')).toEqual(['LOCKED-1']);
    expect(await offered('show', 'OCKED')).toEqual([]);
  });

  test('are offered once in a command that takes several', async () => {
    expect(await offered('show', ids.LOCKED, '')).toEqual([]);
    expect(await offered('replace-code', ids.LOCKED, '')).not.toContain(ids.LOCKED);
    expect(await offered('replace-code', ids.LOCKED, '')).toContain(ids.ACTIVE);
  });
});

test('backups of the device that is named are offered, by deviceId or serial number', async () => {
  const file = join(temporaryFolder(), 'key.age');
  writeFileSync(file, 'backup');
  const { stdout } = await daemon.run(['device-backups', 'add', ids.ACTIVE, file, '--quiet']);
  for (const name of [ids.ACTIVE, 'ACTIVE-1'])
    expect(await offered('device-backups', 'restore', name, '')).toEqual([stdout.trim()]);
  expect(await offered('device-backups', 'restore', 'nosuch', '')).toEqual([]);
});

describe('values', () => {
  test.each([
    ['list --status L', ['LOCKED']],
    ['list --status=L', ['--status=LOCKED']],
    ['list --status LOCKED,a', ['LOCKED,ACTIVE']],
    ['list --status LOCKED,', ['LOCKED,INACTIVE', 'LOCKED,ACTIVE', 'LOCKED,DEACTIVATED']],
    ['events --type DEVICE_LOCKED,DEVICE_UN', ['DEVICE_LOCKED,DEVICE_UNLOCKED']],
    ['lock --filter cre', ['created-from=', 'created-to=']],
    ['lock --filter status=ACTIVE,L', ['status=ACTIVE,LOCKED']],
    ['list --proof none,f', ['none,failed']],
    ['lock --filter proof=u', ['proof=unit']],
    ['policies update --require-proof mo', ['model']],
    ['enroll --require-proof ', ['model', 'unit']],
    ['lock --filter=user=a', ['--filter=user=alice']],
    ['lock --filter nosuch=', []],
    ['list --user ', ['alice']],
    ['list --manufacturer a', ['Acme']],
    ['users update ', ['admin']],
    ['apps latest l', ['LINUX']],
    ['config ', ['show', 'get', 'set', 'unset', 'use', 'profiles', 'maps', 'path', 'station']],
    ['config set s', ['server']],
    ['config set ca ', ['files']],
    ['config get ca ', []],
    ['config use ', ['default']],
    ['register --file ', ['files']],
    ['register --file=x', ['files']],
    ['list --home ', ['folders']],
    ['list --all=', []],
    ['help daemon sta', ['start', 'status']],
    ['stat', ['stats', 'status']],
    ['tokens r', ['remove', 'rm']],
    ['nosuch command ', []],
  ])('%j', async (line, words) => {
    expect(await offered(...line.split(' '))).toEqual(words);
  });

  test('of a flag that another one excludes are not offered, nor is a flag a second time', async () => {
    const flags = await offered('list', '--all', '--json', '--status=LOCKED', '-');
    for (const flag of ['--all', '--page', '--json', '--csv']) expect(flags).not.toContain(flag);
    for (const flag of ['--limit', '--status', '--quiet']) expect(flags).toContain(flag);
  });

  test('after -- are arguments', async () => {
    expect(await offered('list', '--', '--')).toEqual([]);
    expect(await offered('unlock', '--', '')).toEqual([ids.LOCKED]);
  });
});

/** The words offered after others, without a look at any server or home. */
async function defined(...words: string[]): Promise<readonly string[]> {
  const ignore = () => undefined;
  const program = createProgram({
    table: commandTable,
    endings: [],
    columns: 80,
    paint: (_, text) => text,
    write: ignore,
    say: ignore,
    act: () => Promise.resolve(),
  });
  const found = await offersFor(words, program, {} as Context);
  return typeof found === 'string' ? [found] : found.map(([word]) => word);
}

test.each(commandTable.sections.flatMap(({ entries }) => entries).map(entry => [entry.name, entry] as const))(
  'each flag of %s and each of its choices is offered',
  async (name, entry) => {
    const { flags } = await entry.load();
    const words = name.split(' ');
    const names = await defined(...words, '--');
    for (const [flag, { choices }] of Object.entries(flags)) {
      expect(names).toContain(`--${flag}`);
      if (choices) expect(await defined(...words, `--${flag}`, '')).toEqual(choices);
    }
  },
);

describe('a shell that waits', () => {
  const ask = ['completion', 'zsh', '--offer', '--', 'show', 'X'];

  test('gets nothing, and no daemon, if none is running', async () => {
    const home = temporaryFolder();
    expect(await devmgr(ask, { home })).toMatchObject({ code: 0, stdout: 'words\n', stderr: '' });
    expect(readdirSync(home)).toEqual([]);
  });

  test('gets nothing from a server that does not answer', async () => {
    const { url } = await answering(() => undefined);
    const env = { DEVMGR_SERVER: url, DEVMGR_TOKEN: 'a.b.c' };
    expect(await devmgr(ask, { env })).toMatchObject({ code: 0, stdout: 'words\n', stderr: '' });
  });

  test('gets no control characters and no flags from a server', async () => {
    const evil = ['A\u001b]0;owned\u0007', 'A\u202egnp', 'A\nwords', '--plugged', `A${'a'.repeat(300)}`, '', 'A-1'];
    const list = evil.map(serialNumber => ({ deviceId: serialNumber, serialNumber, status: 'LOCKED\u001b[2J\n\tx' }));
    const pagination = { page: 1, size: 50, total: 1, totalPages: 1 };
    const { url } = await answering((_, response) => response.writeHead(200, json).end(success({ list, pagination })));
    const env = { DEVMGR_SERVER: url, DEVMGR_TOKEN: 'a.b.c' };
    const words = ['completion', 'zsh', '--offer', '--', 'show', ''];
    expect((await devmgr(words, { env })).stdout).toBe('words\nA-1\tA-1 LOCKED\\x1b[2J\\x0a\\x09x\n');
    const bash = await devmgr(['completion', 'bash', '--offer', '--', 'devmgr show ', ''], { env });
    expect(bash.stdout).toBe('words\nA-1\n');
  });

  test('gets nothing if the settings are damaged or the address is wrong', async () => {
    for (const env of [{ DEVMGR_SERVER: 'not an address' }, { DEVMGR_HOME: '/proc/nosuch' }])
      expect(['', 'words\n']).toContain((await devmgr(ask, { env })).stdout);
  });
});

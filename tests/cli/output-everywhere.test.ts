/** -o, --jq and --fields in commands that do not list, and files, which only --out names. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { commandTable } from '../../src/cli/commands/index.ts';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const active = async (serial: string) => {
  const { deviceId, activationCode } = await daemon.register(serial);
  await daemon.run(['activate', deviceId, '--code', activationCode, '--user', 'alice']);
  return deviceId as string;
};

describe('-o', () => {
  test('names no file in any command', async () => {
    for (const { name, load } of commandTable.sections.flatMap(({ entries }) => entries))
      for (const [flag, { short }] of Object.entries((await load()).flags))
        if (short === 'o') expect(`${name} --${flag}`).toBe(`${name} --output`);
  });

  test('is the format of a lock, and writes no file', async () => {
    const deviceId = await active('O-1');
    const cwd = temporaryFolder();
    const { code, json } = await daemon.run(['lock', deviceId, '--reason', 'lost', '-o', 'json'], { cwd });
    expect({ code, json }).toMatchObject({ code: 0, json: { deviceId, status: 'LOCKED' } });
    expect(existsSync(join(cwd, 'json'))).toBe(false);
  });

  test.each(['results', 'jsno', '.csv'])(
    'is refused with "%s", which is not a format, before anything is changed',
    async word => {
      const deviceId = await active(`O-2-${word}`);
      const { code, stderr } = await daemon.run(['lock', deviceId, '--reason', 'lost', '--yes', '-o', word]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--out FILE') });
      expect((await daemon.run(['show', deviceId, '--json'])).json.status).toBe('ACTIVE');
    },
  );

  test('still takes a name that can only be that of a file, for scripts of earlier versions', async () => {
    const cwd = temporaryFolder();
    for (const words of [['-o', './a'], ['-ob.csv'], ['-o', 'c.ndjson']])
      expect(await daemon.run(['export', ...words], { cwd })).toMatchObject({ code: 0, stdout: '' });
    for (const name of ['a', 'b.csv', 'c.ndjson']) expect(existsSync(join(cwd, name))).toBe(true);
  });

  test('is the format of export and report, as --format was', async () => {
    const run = async (...words: string[]) => (await daemon.run(words)).stdout;
    expect(await run('export', '-o', 'csv')).toBe(await run('export', '--format', 'csv'));
    expect(await run('export', '--csv')).toMatch(/^deviceId,/);
    expect(await run('report', '-o', 'html')).toMatch(/^<!doctype html>/i);
    expect(await run('report', '--format', 'csv')).toMatch(/^figure|^[a-z]+,/i);
    expect(parse(await run('report', '-o', 'yaml'))).toMatchObject({ byStatus: {} });
  });
});

describe('--fields, --jq and -o yaml', () => {
  test.each([
    [['whoami'], 'role', 'ADMIN'],
    [['config'], 'profile', 'default'],
    [['version'], 'version', expect.any(String)],
    [['daemon', 'status'], 'running', true],
    [['daemon', 'check'], 'problems', []],
    [['stats'], 'total', expect.any(Number)],
    [['doctor'], 'ok', expect.any(Boolean)],
  ] as const)('select from the result of %j', async (command, field, value) => {
    const run = async (...words: string[]) => (await daemon.run([...command, ...words])).stdout;
    expect(parse(await run('--fields', field))).toEqual({ [field]: value });
    expect(JSON.parse(await run('--fields', `${field},none`, '--json'))).toEqual({ [field]: value, none: null });
    expect(JSON.parse(await run('--jq', `[.${field}]`))).toEqual([value]);
    expect(parse(await run('-o', 'yaml'))).toMatchObject({ [field]: value });
  });

  test('select from each result of a batch, and from each entry of the journal and of the log', async () => {
    const cwd = temporaryFolder();
    const lines = async (...words: string[]) => (await daemon.run(words, { cwd })).stdout.trimEnd().split('\n');
    const ids = [await active('B-1'), await active('B-2')];
    expect(await lines('lock', ...ids, '--reason', 'lost', '--yes', '--jq', '.status')).toEqual(['success', 'success']);
    expect(await lines('daemon', 'audit', '--type', 'DEVICE_LOCKED', '--limit', '2', '--jq', '.deviceId')).toEqual(ids);
    expect(await lines('daemon', 'audit', '--limit', '1', '--fields', 'user', '--json')).toEqual(['{"user":"admin"}']);
    expect(await lines('export', '--keyword', 'B-1', '--jq', '.serialNumber')).toEqual(['B-1']);
    expect(await lines('export', '--keyword', 'B-1', '--fields', 'serialNumber', '-o', 'ndjson')).toEqual([
      '{"serialNumber":"B-1"}',
    ]);
  });

  test('are refused where an export has whole devices only', async () => {
    const file = join(temporaryFolder(), 'all.csv');
    expect(await daemon.run(['export', '--csv', '--fields', 'deviceId'])).toMatchObject({ code: 2, stdout: '' });
    expect(await daemon.run(['export', '--jq', '.', '--out', file])).toMatchObject({ code: 2, stdout: '' });
    expect(existsSync(file)).toBe(false);
    await daemon.run(['export', '--csv', '--out', file]);
    expect(readFileSync(file, 'utf8')).toMatch(/^deviceId,/);
  });
});

/** What a station repeats each day: `config station` and `enroll --station`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { enrollFlags } from '../../src/cli/commands/enrollment/enroll/flags.ts';
import { withStation } from '../../src/cli/commands/enrollment/enroll/station.ts';
import { camel, type FlagShapes } from '../../src/cli/framework/flags.ts';
import { devmgr, discard, startDaemon } from './program.ts';

describe('config station', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'devmgr-station-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));
  const run = (...args: string[]) => devmgr(['config', ...args], { home });

  test('stores flags of enroll under a name, shows them and removes them', async () => {
    const words = '--label --printer 10.0.0.9 --provider company,okta --pin random --tag line=3'.split(' ');
    const stored = await run('station', 'desk', ...words);
    expect(stored).toMatchObject({ code: 0, stderr: 'Next: devmgr enroll --station desk\n' });
    expect(stored.stdout.replace(/\s+/g, ' ')).toContain(
      "--provider company --provider okta --pin random --tag 'line=3' --label --printer 10.0.0.9",
    );
    await run('set', 'username', 'ada');
    expect((await run('station', '--json')).json).toEqual([
      {
        station: 'desk',
        flags: { label: true, printer: '10.0.0.9', provider: ['company', 'okta'], pin: 'random', tag: ['line=3'] },
      },
    ]);
    const map = await run('station', 'roster', '--map', 'staff', '--where', 'Site=Lyon', '--json');
    expect(map.json.flags).toEqual({ map: ['staff'], where: ['Site=Lyon'] });
    await run('station', 'roster', '--remove');
    expect((await run('station', 'desk', '--prove', '-q')).stdout).toBe('desk\n');
    expect((await run('station', 'desk', '--json')).json).toEqual({ station: 'desk', flags: { prove: true } });
    expect(await run('station', 'desk', '--remove')).toMatchObject({ code: 0 });
    expect(await run('station', '--json')).toMatchObject({ code: 0, json: [] });
  });

  test.each([
    ['an unknown station', ['station', 'none'], 5, 'station "none" does not exist'],
    ['an unknown station that enroll names', ['../enroll'], 5, 'station "none" does not exist'],
    ['a flag of the run', ['station', 'desk', '--count', '3'], 2, "unknown option '--count'"],
    ['flags without a name', ['station', '--label'], 2, 'name of the station'],
    ['a name that a profile cannot have', ['station', '../x', '--label'], 2, '"../x"'],
    ['a flag without the one that it needs', ['station', 'desk', '--pin', 'random'], 2, "needs option '--provider'"],
    ['a printer without a port', ['station', 'desk', '--label', '--printer', 'a:b'], 2, 'a:b'],
  ])('refuses %s', async (_, words, code, message) => {
    const args = words[0] === '../enroll' ? ['enroll', '--station', 'none'] : ['config', ...words];
    expect(await devmgr(args, { home })).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });
});

describe('a station and the flags of a run', () => {
  const shapes: FlagShapes = enrollFlags;
  const none = Object.fromEntries(
    Object.entries(shapes).map(([name, { value, many }]) => [camel(name), value ? (many ? [] : undefined) : false]),
  );
  const joined = (run: object, station: Parameters<typeof withStation>[1]) =>
    withStation({ ...none, ...run } as never, station);

  test('are joined', () => {
    expect(joined({ roster: 'people.csv' }, { label: true, tag: ['line=3'] })).toMatchObject({
      roster: 'people.csv',
      label: true,
      tag: ['line=3'],
    });
  });

  test('the run comes first, and what it excludes is left out', () => {
    const station = { label: true, printer: '10.0.0.9', tag: ['line=3'], provider: ['company'] };
    expect(joined({ lp: 'queue', tag: ['line=4'] }, station)).toMatchObject({
      lp: 'queue',
      printer: undefined,
      tag: ['line=4'],
    });
    expect(joined({ dryRun: true }, station)).toMatchObject({ provider: [], label: true });
    expect(joined({ redeliver: 'codes.csv' }, station)).toMatchObject({ label: false, tag: [] });
  });

  test('a flag of the run may need one that the station has', () => {
    expect(joined({ pin: 'none' }, { provider: ['company'] })).toMatchObject({ pin: 'none', provider: ['company'] });
    expect(() => joined({ pin: 'none' }, { label: true })).toThrow("option '--pin' needs option '--provider'");
  });

  test('the columns of a roster hold for a run with a roster', () => {
    const station = { map: ['staff'], where: ['Site=Lyon'] };
    expect(joined({ roster: 'people.csv' }, station)).toMatchObject(station);
    expect(joined({}, station)).toMatchObject({ map: [], where: [] });
    expect(joined({ roster: 'people.csv', map: ['userId=Login'] }, station)).toMatchObject({ map: ['userId=Login'] });
  });

  test('a flag that no station repeats is refused', () => {
    expect(() => joined({}, { out: 'codes.csv' })).toThrow('--out');
  });
});

test('enroll uses what its station repeats', async () => {
  const daemon = await startDaemon({ args: ['--simulate-keys', '1'] });
  onTestFinished(() => discard(daemon));
  await daemon.run(['config', 'station', 'line-3', '--tag', 'line=3', '--manufacturer', 'Acme']);
  const needless = await daemon.run(['enroll', '--station', 'line-3', '--pin', 'none']);
  expect(needless).toMatchObject({ code: 2, stderr: expect.stringContaining("'--pin' needs option '--provider'") });
  const { rows } = await daemon.run(['enroll', '--station', 'line-3', '--count', '1', '--json']);
  const shown = await daemon.run(['show', rows[0].deviceId, '--json']);
  expect(shown.json).toMatchObject({ manufacturer: 'Acme', tags: { line: '3' } });
});

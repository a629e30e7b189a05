/** `register --file`: devices that are already registered, and values that the file lacks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';
import { relayTo } from './relay.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let runs = 0;
const prefix = () => `SKIP${++runs}`;
const header = 'deviceType,serialNumber,manufacturer,model';
const csvOf = (lines: readonly string[]) => `${[header, ...lines].join('\n')}\n`;
const linesOf = (p: string, count: number) => Array.from({ length: count }, (_, n) => `UKEY,${p}-${n},Acme,One`);

function fileOf(content: string, name = 'keys.csv'): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, content);
  return file;
}

const statuses = (rows: readonly { line: number; status: string }[]) => rows.map(({ line, status }) => [line, status]);

describe('--skip-existing', () => {
  test('counts registered devices as done, and reports this apart', async () => {
    const p = prefix();
    const { deviceId } = await daemon.register(`${p}-0`);
    const file = fileOf(csvOf(linesOf(p, 2)));
    const out = join(temporaryFolder(), 'codes.csv');
    const args = ['register', '--file', file, '--skip-existing'];
    const first = await daemon.run([...args, '--out', out]);
    expect(first).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/1 device registered, 1 already registered( in \d+s)?; results are in/),
    });
    const [columns, existing, added] = readFileSync(out, 'utf8')
      .split('\n')
      .map(line => line.split(','));
    expect(columns!.slice(0, 7)).toEqual([
      'line',
      'serialNumber',
      'status',
      'deviceId',
      'activationCode',
      'code',
      'field',
    ]);
    expect(existing!.slice(0, 7)).toEqual(['2', `${p}-0`, 'registered', deviceId, '', '', '']);
    expect(added!.slice(0, 3)).toEqual(['3', `${p}-1`, 'success']);
    const again = await daemon.run([...args, '--json']);
    expect(again.code).toBe(0);
    expect(again.rows).toEqual(
      [0, 1].map(n => ({
        line: n + 2,
        serialNumber: `${p}-${n}`,
        status: 'registered',
        deviceId: expect.stringMatching(/^DEV-\d+$/),
        message: expect.stringMatching(/^already exists: DEV-\d+ \(INACTIVE\)$/),
      })),
    );
  });

  test('also works for more devices than are fetched one by one, and asks for them in few requests', async () => {
    const p = prefix();
    const file = fileOf(csvOf(linesOf(p, 300)));
    expect((await daemon.run(['register', '--file', file])).code).toBe(0);
    const { code, rows, stderr } = await daemon.run([
      'register',
      '--file',
      file,
      '--skip-existing',
      '--json',
      '--verbose',
    ]);
    expect(code).toBe(0);
    expect(rows).toHaveLength(300);
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['registered']));
    expect(new Set(rows.map(({ deviceId }) => deviceId)).size).toBe(300);
    expect(stderr.match(/ \/api\//g)!.length).toBeLessThan(10);
  });

  test('fails a line whose device has another type, manufacturer or model, and names the differences', async () => {
    const p = prefix();
    const { deviceId } = await daemon.register(`${p}-0`);
    const file = fileOf(csvOf([`SIMKEY,${p}-0,Acme,Two`, `UKEY,${p}-1,Acme,One`]));
    const { code, rows } = await daemon.run(['register', '--file', file, '--skip-existing', '--json']);
    expect(code).toBe(7);
    expect(rows).toMatchObject([
      { line: 2, status: 'failed', code: 2006, deviceId, field: 'deviceType' },
      { line: 3, status: 'success' },
    ]);
    expect(rows[0].message).toBe(
      `already exists: ${deviceId} (INACTIVE) and differs: type is UKEY, not SIMKEY; model is One, not Two`,
    );
    const shown = await daemon.run(['register', '--file', file, '--skip-existing']);
    expect(shown.stderr).toContain('1 of 2 lines failed, 0 devices are registered, 1 already registered');
    expect(shown.stderr).not.toContain('nothing to fix');
  });

  test('ends with 7 if other lines are invalid', async () => {
    const p = prefix();
    await daemon.register(`${p}-0`);
    const file = fileOf(csvOf([...linesOf(p, 1), 'UKEY,,Acme,One']));
    const { code, rows } = await daemon.run(['register', '--file', file, '--skip-existing', '--json']);
    expect({ code, statuses: statuses(rows) }).toEqual({
      code: 7,
      statuses: [
        [2, 'registered'],
        [3, 'failed'],
      ],
    });
  });

  test('reads the device of a serial number that contains a deviceId', async () => {
    const p = prefix();
    await daemon.register(p);
    const { deviceId } = await daemon.register('A/DEV-1');
    const file = fileOf(csvOf(['UKEY,A/DEV-1,Acme,One']));
    const { rows } = await daemon.run(['register', '--file', file, '--skip-existing', '--json']);
    expect(rows).toMatchObject([{ status: 'registered', deviceId }]);
  });

  test('counts a line that repeats another one once', async () => {
    const p = prefix();
    const file = fileOf(csvOf([...linesOf(p, 1), ...linesOf(p, 1), `UKEY,${p}-0,Other,One`]));
    const planned = await daemon.run(['register', '--file', file, '--skip-existing', '--dry-run', '--json']);
    expect(statuses(planned.rows)).toEqual([
      [2, 'new'],
      [3, 'repeated'],
      [4, 'invalid'],
    ]);
    const { rows } = await daemon.run(['register', '--file', file, '--skip-existing', '--json']);
    expect(statuses(rows)).toEqual([
      [2, 'success'],
      [3, 'repeated'],
      [4, 'failed'],
    ]);
  });

  test('with --dry-run reports a difference as invalid', async () => {
    const p = prefix();
    await daemon.register(`${p}-0`);
    const file = fileOf(csvOf([`UKEY,${p}-0,Other,One`]));
    const run = (...flags: string[]) => daemon.run(['register', '--file', file, '--dry-run', '--json', ...flags]);
    expect((await run()).rows).toMatchObject([{ status: 'registered' }]);
    const { code, rows } = await run('--skip-existing');
    expect({ code, rows }).toMatchObject({
      code: 7,
      rows: [
        {
          status: 'invalid',
          field: 'manufacturer',
          message: expect.stringContaining('manufacturer is Acme, not Other'),
        },
      ],
    });
  });

  test('is continued by --resume', async () => {
    const p = prefix();
    await daemon.register(`${p}-0`);
    const file = fileOf(csvOf(linesOf(p, 6)));
    const out = join(temporaryFolder(), 'codes.csv');
    const args = ['register', '--file', file, '--out', out, '--skip-existing', '--batch-size', '2'];
    const reached = Promise.withResolvers<() => void>();
    let batches = 0;
    const url = await relayTo(daemon.url, forward => {
      if (++batches === 2) reached.resolve(() => void forward());
      else void forward();
    });
    const running = daemon.start(args, { env: { DEVMGR_TOKEN: daemon.token, DEVMGR_SERVER: url } });
    const goOn = await reached.promise;
    running.child.kill('SIGINT');
    goOn();
    const stopped = await running.ended;
    expect(stopped).toMatchObject({
      code: 130,
      stderr: expect.stringContaining('3 registered, 1 already registered and 0 failed'),
    });
    const resumed = await daemon.run([...args, '--resume']);
    expect(resumed.stderr).toContain('3 registered, 1 already registered, 0 failed before it');
    expect(resumed).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('5 devices registered, 1 already registered'),
    });
    const nothing = await daemon.run([...args, '--resume']);
    expect(nothing).toMatchObject({ code: 0, stderr: expect.stringContaining('Nothing to do: all 6 lines are done') });
  });
});

describe('--type, --manufacturer and --model', () => {
  test('fill what a line lacks; the value of the file takes precedence', async () => {
    const p = prefix();
    const file = fileOf(`serial,model\n${p}-0,Two\n${p}-1,\n`);
    const flags = ['--type', 'ukey', '--manufacturer', 'Yubico', '--model', 'One'];
    const { code, rows } = await daemon.run(['register', '--file', file, '--json', ...flags]);
    expect(code).toBe(0);
    const devices = await Promise.all(rows.map(({ deviceId }) => daemon.call('GET', `/api/devices/${deviceId}`)));
    expect(devices).toMatchObject([
      { deviceType: 'UKEY', manufacturer: 'Yubico', model: 'Two' },
      { deviceType: 'UKEY', manufacturer: 'Yubico', model: 'One' },
    ]);
  });

  test('also fill elements of JSON', async () => {
    const p = prefix();
    const file = fileOf(JSON.stringify([{ serialNumber: p, manufacturer: null, model: 'One' }]), 'keys.json');
    const { code, rows } = await daemon.run([
      'register',
      '--file',
      file,
      '--json',
      '--type',
      'SIMKEY',
      '--manufacturer',
      'Acme',
    ]);
    expect(code).toBe(0);
    expect(await daemon.call('GET', `/api/devices/${rows[0].deviceId}`)).toMatchObject({
      deviceType: 'SIMKEY',
      manufacturer: 'Acme',
    });
  });

  test('do not hide a wrong value of the file', async () => {
    const file = fileOf(csvOf([`TOKEN,${prefix()},Acme,One`]));
    const { code, rows } = await daemon.run(['register', '--file', file, '--json', '--type', 'UKEY']);
    expect({ code, rows }).toMatchObject({ code: 7, rows: [{ field: 'deviceType' }] });
  });

  test.each([
    ['--type', 'TOKEN'],
    ['--manufacturer', ''],
    ['--model', 'x'.repeat(1000)],
  ])('a wrong %s is a usage error, and nothing is sent', async (flag, value) => {
    const p = prefix();
    const { code, stderr } = await daemon.run(['register', '--file', fileOf(csvOf(linesOf(p, 1))), flag, value]);
    expect({ code, named: stderr.includes(flag) }).toEqual({ code: 2, named: true });
    expect((await daemon.call('GET', `/api/devices/list?size=1&keyword=${p}-`)).pagination.total).toBe(0);
  });
});

/** `register --file`: every format, every invalid line, and one result per line whatever happens. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';
import { type OnBatch, relayTo } from './relay.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const header = 'deviceType,serialNumber,manufacturer,model';
let runs = 0;
/** Serial numbers that no other test uses. */
const prefix = () => `FILE${++runs}`;

function fileOf(name: string, content: string | Buffer): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, content);
  return file;
}

const lines = (p: string, count: number) => Array.from({ length: count }, (_, n) => `UKEY,${p}-${n},Acme,One`);
const csvOf = (rows: readonly string[]) => `${[header, ...rows].join('\n')}\n`;
const total = async (keyword: string) =>
  (await daemon.call('GET', `/api/devices/list?size=1&keyword=${keyword}-`)).pagination.total as number;

describe('a CSV', () => {
  test('can name the type in upper or lower case, like --type, and so can JSON', async () => {
    const p = prefix();
    const csv = fileOf('keys.csv', `${header}\nukey,${p}-1,Acme,One\n SimKey ,${p}-2,Acme,One\n`);
    const device = { deviceType: 'ukey', serialNumber: `${p}-3`, manufacturer: 'Acme', model: 'One' };
    const json = fileOf('keys.json', JSON.stringify([device]));
    for (const file of [csv, json])
      expect(await daemon.run(['register', '--file', file])).toMatchObject({ code: 0, stderr: expect.any(String) });
    const { list } = await daemon.call('GET', `/api/devices/list?keyword=${p}&sortBy=serialNumber&sortOrder=asc`);
    expect(list.map(({ deviceType }: { deviceType: string }) => deviceType)).toEqual(['UKEY', 'SIMKEY', 'UKEY']);
  });

  test('can have a BOM, CRLF, quoted commas and line breaks, other columns, and columns in any order and case', async () => {
    const p = prefix();
    const file = fileOf(
      'keys.csv',
      `\ufeffModel,comment,Serial Number,MANUFACTURER,device_type,Firmware-Version\r\n"One, ""two""",x,${p}-1,Acme,UKEY,1.0\r\n\r\n"A",y,${p}-2,"Acme, Inc.",SIMKEY,\r\n`,
    );
    const { code, rows, stderr } = await daemon.run(['register', '--file', file, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(rows).toEqual([
      {
        line: 2,
        serialNumber: `${p}-1`,
        status: 'success',
        deviceId: expect.stringMatching(/^DEV-\d+$/),
        activationCode: expect.any(String),
        message: expect.any(String),
      },
      expect.objectContaining({ line: 4, serialNumber: `${p}-2`, status: 'success' }),
    ]);
    const device = await daemon.call('GET', `/api/devices/${rows[0].deviceId}`);
    expect(device).toMatchObject({
      model: 'One, "two"',
      manufacturer: 'Acme',
      firmwareVersion: '1.0',
      deviceType: 'UKEY',
    });
    expect((await daemon.call('GET', `/api/devices/${rows[1].deviceId}`)).firmwareVersion).toBeNull();
  });

  test('reports ignored columns', async () => {
    const file = fileOf('keys.csv', `${header},comment,price\nUKEY,${prefix()}-1,A,B,x,1\n`);
    expect((await daemon.run(['register', '--file', file])).stderr).toContain('ignored columns: comment, price\n');
  });

  test('names the column that would store an ignored one as a tag', async () => {
    const file = fileOf('keys.csv', `${header},Lot,price\nUKEY,${prefix()}-1,A,B,7,1\n`);
    expect((await daemon.run(['register', '--file', file])).stderr).toContain(
      'ignored columns: Lot, price; to store lot as a tag, name its column tag:lot\n',
    );
  });

  test('can be separated by semicolons', async () => {
    const p = prefix();
    const file = fileOf('keys.csv', `${header.replaceAll(',', ';')}\nUKEY;${p}-1;Acme, Inc.;One\n`);
    const { code, rows } = await daemon.run(['register', '--file', file, '--json']);
    expect({ code, serial: rows[0].serialNumber }).toEqual({ code: 0, serial: `${p}-1` });
  });

  test('names line, field and reason of each invalid line, and registers the valid ones', async () => {
    const p = prefix();
    const { deviceId } = await daemon.register(`${p}-before`);
    const bad = [
      'UKEY,,Acme,One',
      `TOKEN,${p}-t,Acme,One`,
      `UKEY,${p}-c,Ac\u0007me,One`,
      `UKEY,${p}-good,Acme,One`,
      `UKEY,${p}-before,Acme,One`,
      `UKEY,${p}-x,Acme, Inc.,One`,
      `UKEY,${p}-short`,
      `UKEY,"${p}"-q,Acme,One`,
    ];
    const file = fileOf('keys.csv', csvOf([`UKEY,${p}-good,Acme,One`, ...bad, `UKEY,${p}-last,Acme,One`]));
    const { code, rows } = await daemon.run(['register', '--file', file, '--json']);
    expect(code).toBe(7);
    expect(rows.map(({ line, status, field }) => [line, status, field])).toEqual([
      [2, 'success', undefined],
      [3, 'failed', 'serialNumber'],
      [4, 'failed', 'deviceType'],
      [5, 'failed', 'manufacturer'],
      [6, 'repeated', undefined],
      [7, 'failed', 'serialNumber'],
      [8, 'failed', undefined],
      [9, 'failed', 'manufacturer'],
      [10, 'failed', undefined],
      [11, 'success', undefined],
    ]);
    expect(rows[5].message).toContain(deviceId);
    expect(rows[6].message).toContain('5 cells');
    expect(
      rows.filter(row => row.status === 'failed').every(row => !('deviceId' in row) && !('activationCode' in row)),
    ).toBe(true);
    expect(await total(p)).toBe(3);
  });

  test('with an unclosed quote loses only that line', async () => {
    const p = prefix();
    const file = fileOf('keys.csv', csvOf([`UKEY,${p}-1,"Acme,One`, `UKEY,${p}-2,Acme,One`, `UKEY,${p}-3,Acme,One`]));
    const { code, rows } = await daemon.run(['register', '--file', file, '--json']);
    expect(code).toBe(7);
    expect(rows.map(({ line, status }) => [line, status])).toEqual([
      [2, 'failed'],
      [3, 'success'],
      [4, 'success'],
    ]);
  });

  test.each([
    ['without a header row', `UKEY,A-1,Acme,One\n`, 'no column for deviceType, serialNumber, manufacturer, model'],
    ['without a needed column', `type,serial,model\nUKEY,A-1,One\n`, 'no column for manufacturer'],
    ['with one column twice', `${header},serial\nUKEY,A-1,Acme,One,A-2\n`, 'two columns for serialNumber'],
    ['that is empty', '', 'is empty'],
    ['in UTF-16 without a needed column', Buffer.from('\ufefftype,serial\n', 'utf16le'), 'no column for manufacturer'],
  ])('%s is a usage error', async (_, content, words) => {
    const { code, stdout, stderr } = await daemon.run(['register', '--file', fileOf('keys.csv', content)]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });

  test('in another encoding is not read as garbage', async () => {
    const p = prefix();
    const file = fileOf('keys.csv', Buffer.from(csvOf([`UKEY,${p}-1,M\u00fcller,One`]), 'latin1'));
    const { code, rows } = await daemon.run(['register', '--file', file, '--json']);
    expect(code).toBe(7);
    expect(rows[0]).toMatchObject({ field: 'manufacturer', message: expect.stringContaining('not valid UTF-8') });
  });
});

describe('JSON', () => {
  const device = (serialNumber: string) => ({ deviceType: 'UKEY', serialNumber, manufacturer: 'Acme', model: 'One' });

  test('as an array names the line in which each element starts', async () => {
    const p = prefix();
    const content = JSON.stringify([device(`${p}-1`), 7, { ...device(`${p}-2`), model: 5 }, device(`${p}-3`)], null, 1);
    const { code, rows } = await daemon.run(['register', '--file', fileOf('keys.json', content), '--json']);
    expect(code).toBe(7);
    expect(rows.map(({ line, status, field }) => [line, status, field])).toEqual([
      [2, 'success', undefined],
      [8, 'failed', undefined],
      [9, 'failed', 'model'],
      [15, 'success', undefined],
    ]);
  });

  test('as lines, also from standard input, detected by its first character', async () => {
    const p = prefix();
    const input = `${JSON.stringify(device(`${p}-1`))}\n\nnot json\n${JSON.stringify(device(`${p}-2`))}`;
    const { code, rows } = await daemon.run(['register', '--file', '-', '--json'], { input });
    expect(code).toBe(7);
    expect(rows.map(({ line, status }) => [line, status])).toEqual([
      [1, 'success'],
      [3, 'failed'],
      [4, 'success'],
    ]);
    const named = await daemon.run([
      'register',
      '--file',
      fileOf('keys.ndjson', JSON.stringify(device(`${p}-3`))),
      '--json',
    ]);
    expect(named.rows).toMatchObject([{ line: 1, status: 'success' }]);
  });

  test('as an array in one line numbers its items, in results and messages', async () => {
    const p = prefix();
    const items = [device(`${p}-1`), { ...device(`${p}-2`), model: '' }, device(`${p}-1`), 7];
    const file = fileOf('keys.json', JSON.stringify(items));
    const numbered = (rows: { line: number; item: number; status: string }[]) =>
      rows.map(({ line, item, status }) => [line, item, status]);
    const planned = await daemon.run(['register', '--file', file, '--dry-run']);
    expect(planned.stdout).toContain('item 3 repeats item 1');
    expect(planned.stdout).toMatch(/^item 4 +✗ invalid/m);
    const { rows } = await daemon.run(['register', '--file', file, '--json']);
    expect(numbered(rows)).toEqual([
      [1, 1, 'success'],
      [1, 2, 'failed'],
      [1, 3, 'repeated'],
      [1, 4, 'failed'],
    ]);
    const again = await daemon.run(['register', '--file', file]);
    expect(again.stdout).toMatch(/^item 2 +✗ failed .*model/m);
    const out = `${file}.csv`;
    await daemon.run(['register', '--file', file, '--out', out]);
    expect(readFileSync(out, 'utf8')).toMatch(/^line,.*,message,item\n(1,.*,[1-4]\n){4}$/);
  });

  test('and the other formats are read from standard input', async () => {
    const p = prefix();
    expect(
      (await daemon.run(['register', '--file', '-', '--quiet'], { input: JSON.stringify([device(`${p}-1`)]) })).stdout,
    ).toMatch(/^DEV-\d+\n$/);
    expect(
      (await daemon.run(['register', '--file', '-', '--csv'], { input: csvOf(lines(p, 3).slice(2)) })).stdout,
    ).toMatch(/^line,serialNumber,status,deviceId,activationCode,code,field,message\n2,/);
  });

  test('that is truncated is a usage error', async () => {
    const { code, stderr } = await daemon.run([
      'register',
      '--file',
      fileOf('keys.json', '[{"deviceType":"UKEY"'),
      '--json',
    ]);
    expect(code).toBe(2);
    expect(JSON.parse(stderr).error.message).toContain('not closed');
  });
});

test('a missing file, or a folder, is a usage error', async () => {
  expect((await daemon.run(['register', '--file', '/no/such/file.csv'])).code).toBe(2);
  expect((await daemon.run(['register', '--file', temporaryFolder()])).stderr).toContain('is a folder');
});

test('a dry run reports new, registered and invalid lines, and changes nothing', async () => {
  const p = prefix();
  const { deviceId } = await daemon.register(`${p}-before`);
  const file = fileOf('keys.csv', csvOf([`UKEY,${p}-1,A,B`, `UKEY,${p}-before,A,B`, `UKEY,${p}-1,A,B`, 'UKEY,,A,B']));
  const { code, rows } = await daemon.run(['register', '--file', file, '--dry-run', '--json']);
  expect(rows.map(({ line, status }) => [line, status])).toEqual([
    [2, 'new'],
    [3, 'registered'],
    [4, 'repeated'],
    [5, 'invalid'],
  ]);
  expect(rows[1].deviceId).toBe(deviceId);
  expect(code).toBe(7);
  expect(await total(p)).toBe(1);
});

test('25,000 lines, 50 of them invalid and 50 repeated: 24,900 are registered, each of the others has its line number', async () => {
  const p = prefix();
  const rows = lines(p, 24_900);
  const badLines: number[] = [];
  for (let n = 0; n < 100; n++) {
    const at = n * 249 + 100;
    rows.splice(at, 0, n % 2 ? 'UKEY,,Acme,One' : `UKEY,${p}-0,Acme,One`);
    badLines.push(at + 2);
  }
  const file = fileOf('keys.csv', csvOf(rows));
  const out = `${file}.results.csv`;
  const { code, stdout, stderr } = await daemon.run(['register', '--file', file, '--out', out, '--quiet']);
  expect(code).toBe(7);
  expect(stdout.split('\n').filter(Boolean)).toHaveLength(24_900);
  expect(stderr).toContain('50 of 25,000 lines failed, 24,900 devices are registered, 50 repeated');
  const results = readFileSync(out, 'utf8').trimEnd().split('\n').slice(1);
  expect(results).toHaveLength(25_000);
  expect(results.filter(line => /,(failed|repeated),/.test(line)).map(line => Number(line.split(',')[0]))).toEqual(
    badLines,
  );
  expect(await total(p)).toBe(24_900);
  expect(existsSync(`${out}.resume.json`)).toBe(false);
}, 120_000);

const relay = (onBatch: OnBatch) => relayTo(daemon.url, onBatch);

/**
 * How many were registered before an interruption during the second batch of 20. The signal and the answer race: a batch or two may
 * follow, but not the rest.
 */
function doneBeforeInterrupt(stderr: string, unit: 'line' | 'item', before: number): number {
  const [, done, last] =
    new RegExp(`interrupted; (\\d+) registered and 0 failed up to ${unit} (\\d+)`).exec(stderr) ?? [];
  expect(Number(last)).toBe(Number(done) + before);
  expect([40, 60, 80]).toContain(Number(done));
  return Number(done);
}

describe('an interruption', () => {
  test('a batch whose response is lost counts once, with its codes', async () => {
    const p = prefix();
    await daemon.register(`${p}-before`);
    let batches = 0;
    const url = await relay((forward, answer) => {
      batches++;
      // The second batch is executed, but its response is lost.
      if (batches === 2) {
        Object.defineProperty(answer, 'write', { value: () => true });
        Object.defineProperty(answer, 'writeHead', { value: () => answer });
        Object.defineProperty(answer, 'end', { value: () => answer.destroy() });
      }
      void forward();
    });
    const file = fileOf(
      'keys.csv',
      // The second batch contains a duplicate serial number, and one that was already registered.
      csvOf([
        ...lines(p, 38),
        `UKEY,${p}-35,A,B`,
        `UKEY,${p}-before,A,B`,
        `UKEY,${p}-36,A,B`,
        ...lines(`${p}-more`, 6),
      ]),
    );
    const env = { DEVMGR_TOKEN: daemon.token };
    const { code, rows } = await daemon.run(
      ['register', '--file', file, '--batch-size', '20', '--json', '--server', url],
      { env },
    );
    expect(batches).toBe(4);
    expect(code).toBe(7);
    expect(rows.filter(row => row.status === 'failed').map(row => row.line)).toEqual([40, 41, 42]);
    expect(rows).toHaveLength(47);
    const byId = new Map<string, string>(
      (await daemon.call('GET', `/api/devices/list?size=100&keyword=${p}-`)).list.map(
        (device: { deviceId: string; activationCode: string }) => [device.deviceId, device.activationCode],
      ),
    );
    for (const row of rows) if (row.status === 'success') expect(byId.get(row.deviceId)).toBe(row.activationCode);
  });

  test('Ctrl-C completes the current batch and reports the progress, and --resume continues', async () => {
    const p = prefix();
    let held: (() => void) | undefined;
    let batches = 0;
    const reached = Promise.withResolvers<void>();
    const url = await relay(forward => {
      if (++batches !== 2) void forward();
      else {
        held = () => void forward();
        reached.resolve();
      }
    });
    const file = fileOf('keys.csv', csvOf(lines(p, 200)));
    const out = `${file}.jsonl`;
    const env = { DEVMGR_TOKEN: daemon.token, DEVMGR_SERVER: url };
    const args = ['register', '--file', file, '--out', out, '--batch-size', '20'];
    const running = daemon.start(args, { env });
    await reached.promise;
    running.child.kill('SIGINT');
    held?.();
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    const done = doneBeforeInterrupt(stderr, 'line', 1);
    expect(stderr).toContain('--resume');
    expect(readFileSync(out, 'utf8').trimEnd().split('\n')).toHaveLength(done);
    // As after a run that was killed while it wrote the results of a batch.
    appendFileSync(out, `${`{"line":${done + 2},"status":"failed"}\n`.repeat(1000)}{"line":`);
    const resumed = await daemon.run([...args, '--resume'], { env });
    expect(resumed.code).toBe(0);
    const results = readFileSync(out, 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(results.map(row => row.line)).toEqual(Array.from({ length: 200 }, (_, n) => n + 2));
    expect(results.every(row => row.status === 'success')).toBe(true);
    expect(await total(p)).toBe(200);
    expect(existsSync(`${out}.resume.json`)).toBe(false);
  });

  test('an interrupted array in one line continues with the next item', async () => {
    const p = prefix();
    const reached = Promise.withResolvers<() => void>();
    let batches = 0;
    const url = await relay(forward => {
      if (++batches === 2) reached.resolve(() => void forward());
      else void forward();
    });
    const items = lines(p, 200).map((_, n) => ({
      deviceType: 'UKEY',
      serialNumber: `${p}-${n}`,
      manufacturer: 'A',
      model: 'B',
    }));
    const file = fileOf('keys.json', JSON.stringify(items));
    const out = `${file}.jsonl`;
    const env = { DEVMGR_TOKEN: daemon.token, DEVMGR_SERVER: url };
    const args = ['register', '--file', file, '--out', out, '--batch-size', '20'];
    const running = daemon.start(args, { env });
    const goOn = await reached.promise;
    running.child.kill('SIGINT');
    goOn();
    doneBeforeInterrupt((await running.ended).stderr, 'item', 0);
    expect((await daemon.run([...args, '--resume'], { env })).code).toBe(0);
    const results = readFileSync(out, 'utf8').trimEnd().split('\n');
    expect(results.map(line => JSON.parse(line).item)).toEqual(items.map((_, n) => n + 1));
    expect(await total(p)).toBe(200);
  });

  test('a program that was killed during a batch continues without losing or repeating a line', async () => {
    const p = prefix();
    let batches = 0;
    const done = Promise.withResolvers<void>();
    const url = await relay((forward, answer) => {
      if (++batches !== 2) return void forward();
      Object.defineProperty(answer, 'write', { value: () => true });
      Object.defineProperty(answer, 'writeHead', { value: () => answer });
      Object.defineProperty(answer, 'end', { value: () => answer });
      void forward().then(done.resolve);
    });
    const file = fileOf('keys.csv', csvOf(lines(p, 50)));
    const out = `${file}.csv`;
    const env = { DEVMGR_TOKEN: daemon.token, DEVMGR_SERVER: url };
    const args = ['register', '--file', file, '--out', out, '--batch-size', '20'];
    const running = daemon.start(args, { env });
    await done.promise;
    running.child.kill('SIGKILL');
    await running.ended;
    const resumed = await daemon.run([...args, '--resume'], { env });
    expect(resumed.code).toBe(0);
    const results = readFileSync(out, 'utf8').trimEnd().split('\n').slice(1);
    expect(results.map(line => Number(line.split(',')[0]))).toEqual(Array.from({ length: 50 }, (_, n) => n + 2));
    expect(results.every(line => /,success,DEV-\d+,[A-Z2-9-]{19},/.test(line))).toBe(true);
    expect(await total(p)).toBe(50);
  });

  test('a changed file is not continued', async () => {
    const p = prefix();
    const file = fileOf('keys.csv', csvOf(lines(p, 2)));
    writeFileSync(
      `${file}.resume.json`,
      JSON.stringify({ fingerprint: 'other', line: 2, success: 1, failed: 0, resultBytes: 0, newest: 0 }),
    );
    const { code, stderr } = await daemon.run(['register', '--file', file, '--resume']);
    expect(code).toBe(2);
    expect(stderr).toContain('has changed since');
    expect(existsSync(`${file}.resume.json`)).toBe(true);
  });

  test.each([
    ['nothing', {}],
    ['no line number', { last: null }],
    ['a text for a number', { rows: '2' }],
    ['a negative number', { resultBytes: -1 }],
  ])('a progress file with %s is not continued', async (_, damage) => {
    const content = csvOf(lines(prefix(), 2));
    const file = fileOf('keys.csv', content);
    const fingerprint = `${Buffer.byteLength(content)}:${createHash('sha256').update(content).digest('hex')}`;
    const whole = { rows: 1, last: { line: 2 }, success: 1, failed: 0, resultBytes: 0, newest: 0 };
    const kept = Object.keys(damage).length === 0 ? {} : { ...whole, ...damage };
    writeFileSync(`${file}.resume.json`, JSON.stringify({ fingerprint, ...kept }));
    const { code, stderr } = await daemon.run(['register', '--file', file, '--resume']);
    expect(code).toBe(2);
    expect(stderr).toContain(`to start over, remove ${file}.resume.json`);
    expect(stderr).toContain('does not say how far');
  });
});

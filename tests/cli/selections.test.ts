/** Commands that select devices and show events: list with filters, export, events, watch --device. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { answering } from '../support/http-servers.ts';
import { type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  for (const serial of ['SEL-1', 'SEL-2', 'SEL-3']) await daemon.register(serial);
  await daemon.run(['activate', 'SEL-2', '--code', await codeOf('SEL-2'), '--user', 'alice']);
  await daemon.run(['lock', 'SEL-2', '--reason', 'audit']);
});
afterAll(() => discard(daemon));

const codeOf = async (serial: string) => (await daemon.run(['show', serial, '--json'])).json.activationCode;
const serialsOf = async (...args: string[]): Promise<string[]> => {
  const { json } = await daemon.run(['list', '--json', '--sort', 'deviceId', '--order', 'asc', ...args]);
  return json.list.map(({ serialNumber }: { serialNumber: string }) => serialNumber);
};

describe('list', () => {
  test('takes several states and types, in upper or lower case, and with commas', async () => {
    expect(await serialsOf('--status', 'locked,inactive', '--type', 'ukey')).toEqual(['SEL-1', 'SEL-2', 'SEL-3']);
    expect(await serialsOf('--status', 'LOCKED', '--status', 'DEACTIVATED')).toEqual(['SEL-2']);
  });

  test('finds one device by its whole serial number', async () => {
    expect(await serialsOf('--serial', 'SEL-1')).toEqual(['SEL-1']);
    expect(await serialsOf('--serial', 'SEL-')).toEqual([]);
  });

  test('finds devices by words, in a list and an export', async () => {
    const { model } = (await daemon.run(['show', 'SEL-1', '--json'])).json;
    expect(await serialsOf('--search', `model:"${model.toUpperCase()}" person:ali`)).toEqual(['SEL-2']);
    expect(await serialsOf('--search', `sel- ${model.slice(1)}`)).toEqual(['SEL-1', 'SEL-2', 'SEL-3']);
    expect(await serialsOf('--search', 'person:sel-1')).toEqual([]);
    const { stdout } = await daemon.run(['export', '--search', 'ALICE']);
    expect(JSON.parse(stdout).serialNumber).toBe('SEL-2');
    expect((await daemon.run(['list', '--search', ''])).code).toBe(2);
    expect(await daemon.run(['list', '--search', 'maker:'])).toMatchObject({ code: 2 });
  });

  test('finds devices by their whole model', async () => {
    const { model } = (await daemon.run(['show', 'SEL-1', '--json'])).json;
    expect(await serialsOf('--model', model)).toEqual(['SEL-1', 'SEL-2', 'SEL-3']);
    expect(await serialsOf('--model', model.slice(1))).toEqual([]);
  });

  test.each([
    ['a day', '2020-01-01', '2099-01-01'],
    ['a local minute', '2020-01-01 08:30', '2099-01-01T08:30'],
    ['a time with a zone', '2020-01-01T00:00:00Z', '2099-01-01T00:00:00+05:30'],
  ])('selects by %s', async (_, early, late) => {
    expect(await serialsOf('--created-from', early, '--created-to', late)).toHaveLength(3);
    expect(await serialsOf('--created-to', early)).toEqual([]);
    expect(await serialsOf('--last-used-before', late)).toEqual(['SEL-2']);
    expect(await serialsOf('--code-expires-before', late)).toHaveLength(3);
  });

  test.each(['soon', '2026-02-30', '2026-01-01 25:00', '2026-01-01T08:30:00'])('refuses the time %s', async text => {
    const { code, stderr } = await daemon.run(['list', '--created-from', text]);
    expect(code).toBe(2);
    expect(stderr).toContain(`--created-from must be a time such as 2026-03-01`);
  });
});

describe('export', () => {
  test('writes the devices as NDJSON, without the line that ends it', async () => {
    const { code, stdout, stderr } = await daemon.run(['export', '--status', 'LOCKED,INACTIVE']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line).serialNumber)).toEqual(['SEL-1', 'SEL-2', 'SEL-3']);
  });

  test('writes CSV that register --file reads, to a file that is whole', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'devices.csv');
    expect(await daemon.run(['export', '--format', 'csv', '--out', file])).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(5);
    expect(readdirSync(folder)).toEqual(['devices.csv']);
    const other = await startDaemon();
    onTestFinished(() => discard(other));
    const registered = await other.run(['register', '--file', file, '--json']);
    expect(registered.code).toBe(0);
    expect((await other.run(['list', '--quiet', '--all'])).stdout.trimEnd().split('\n')).toHaveLength(3);
  });

  test.each([
    ['NDJSON that ends early', ['--format', 'ndjson'], '{"deviceId":"DEV-1"}\n'],
    ['NDJSON with another number of lines', [], '{"deviceId":"DEV-1"}\n{"end":true,"count":2}\n'],
    ['no lines at all', [], ''],
  ])('fails for %s, and leaves no file', async (_, args, text) => {
    const { url } = await answering((_, response) => void response.end(text));
    const file = join(temporaryFolder(), 'devices');
    const env = { DEVMGR_TOKEN: 'x', DEVMGR_SERVER: url };
    const { code, stderr } = await devmgr(['export', '--out', file, ...args], { env });
    expect(code).not.toBe(0);
    expect(stderr).toContain('the export is incomplete');
    expect(existsSync(file)).toBe(false);
  });

  test('fails if the connection is lost, and leaves an earlier file as it was', async () => {
    const server = createServer((_, response) => {
      response.write('{"deviceId":"DEV-1"}\n', () => response.destroy());
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const file = join(temporaryFolder(), 'devices.ndjson');
    writeFileSync(file, 'earlier');
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const { code, stderr } = await devmgr(['export', '--out', file], {
      env: { DEVMGR_TOKEN: 'x', DEVMGR_SERVER: url },
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain('lost');
    expect(readFileSync(file, 'utf8')).toBe('earlier');
  });
});

describe('events', () => {
  test('shows the history of a device, the newest event last', async () => {
    const { stdout, code } = await daemon.run(['events', 'SEL-2']);
    expect(code).toBe(0);
    const words = stdout
      .trimEnd()
      .split('\n')
      .map(line => /^\S+ \S+ {2}(DEV-\d+ {2}.*) {2}#\d+$/.exec(line)?.[1]);
    expect(words).toEqual([
      expect.stringMatching(/^DEV-\d+ {2}SEL-2 {2}registered \(UKEY\) {2}by admin$/),
      expect.stringMatching(/^DEV-\d+ {2}activated for /),
      expect.stringMatching(/^DEV-\d+ {2}locked: /),
    ]);
  });

  test('goes back and forth by id', async () => {
    const all = (await daemon.run(['events', '--json'])).json;
    const ids = all.list.map(({ id }: { id: number }) => id);
    expect(ids).toEqual(ids.toSorted((a: number, b: number) => a - b));
    expect(all.head).toBe(ids.at(-1));
    const before = await daemon.run(['events', '--before', String(ids.at(-1)), '--limit', '2', '--json']);
    expect(before.json.list.map(({ id }: { id: number }) => id)).toEqual(ids.slice(-3, -1));
    const after = await daemon.run(['events', '--after', '0', '--limit', '2', '--quiet']);
    expect(after.stdout).toBe(`${ids[0]}\n${ids[1]}\n`);
  });

  test('names the flag that continues, for the same selection', async () => {
    const back = ['events', 'SEL-2', '--by', 'admin', '--limit', '1'];
    const newest = await daemon.run(back);
    const [, until] = /^More: --until (\d+)\n$/.exec(newest.stderr)!;
    expect((await daemon.run([...back, '--until', until!])).stdout).toContain('activated for ');
    const { stderr } = await daemon.run(['events', '--by', 'admin', '--since', '0', '--limit', '1']);
    expect(stderr).toMatch(/^More: --since \d+\n$/);
  });

  test('filters by type, and shows if nothing matches', async () => {
    const { stdout, stderr } = await daemon.run(['events', '--type', 'device_unlocked']);
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'No event matches.\n' });
  });
});

test('watch --device shows the events of one device', async () => {
  const args = ['watch', '--device', 'SEL-2', '--since', '0', '--count', '3', '--json'];
  const { stdout, code } = await daemon.run(args);
  expect(code).toBe(0);
  const types = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line).type);
  expect(types).toEqual(['DEVICE_REGISTERED', 'DEVICE_ACTIVATED', 'DEVICE_LOCKED']);
});

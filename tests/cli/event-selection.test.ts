/** The flags that select events, which have one meaning in events, history, show, watch and daemon audit. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon } from './program.ts';

interface Event {
  readonly id: number;
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly deviceId?: string };
}

let daemon: Daemon;
let deviceId: string;
let past: readonly Event[];
let dealer: { readonly DEVMGR_TOKEN: string };

beforeAll(async () => {
  daemon = await startDaemon();
  const device = await daemon.register('E-1');
  deviceId = device.deviceId;
  await daemon.register('E-2');
  const { token } = (await daemon.run(['tokens', 'add', 'line-3', '--role', 'DEALER', '--json'])).json;
  dealer = { DEVMGR_TOKEN: token };
  await daemon.run(['activate', deviceId, '--code', device.activationCode, '--user', 'alice'], { env: dealer });
  await daemon.run(['update', deviceId, '--note', 'shelf 3', '--firmware-version', '1.0.4']);
  await daemon.run(['update', deviceId, '--note', 'shelf 4', '--tag', 'lot=7']);
  await daemon.run(['lock', deviceId, '--reason', 'lost']);
  past = (await daemon.run(['history', deviceId, '--json'])).json.list;
});
afterAll(() => discard(daemon));

const lines = async (words: readonly string[], env: object = {}) => {
  const { code, stdout, stderr } = await daemon.run(words, { env: { ...env } });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout.split('\n').filter(line => line !== '');
};
const idsOf = async (words: readonly string[], env: object = {}) =>
  (await daemon.run([...words, '--json'], { env: { ...env } })).json.list.map(({ id }: Event) => id);
const ids = (from: number, to?: number) => past.slice(from, to).map(({ id }) => id);

describe('history', () => {
  test('shows every event of a device, who did it, and what an update changed', async () => {
    const found = await lines(['history', 'E-1']);
    const words = found.map(line => line.replace(/^\S+ \S+ {2}| {2}#\d+$/g, ''));
    expect(words).toEqual([
      'registered (UKEY)  by admin',
      'activated for alice  by token:line-3',
      'updated: firmware version none → 1.0.4, note none → shelf 3  by admin',
      'updated: note shelf 3 → shelf 4, tags none → lot=7  by admin',
      'locked: lost  by admin',
    ]);
    expect(await idsOf(['history', '--device', deviceId])).toEqual(ids(0));
  });

  test('does not show who did it to a DEALER', async () => {
    const found = await lines(['history', deviceId], dealer);
    expect(found).toHaveLength(5);
    expect(found.join('\n')).not.toContain('by admin');
  });
});

describe('--since and --until', () => {
  test.each(['ADMIN', 'DEALER'])('take an id, an age or a time, for %s', async role => {
    const env = role === 'ADMIN' ? {} : dealer;
    const of = (...words: string[]) => idsOf(['history', deviceId, ...words], env);
    const [, second, third, , last] = past as readonly [Event, Event, Event, Event, Event];
    expect(await of('--since', String(second.id))).toEqual(ids(2));
    expect(await of('--until', String(third.id))).toEqual(ids(0, 2));
    expect(await of('--since', '1h')).toEqual(ids(0));
    expect(await of('--until', '1h')).toEqual([]);
    expect(await of('--since', '2000-01-01', '--until', '2100-01-01')).toEqual(ids(0));
    expect(await of('--since', '2100-01-01')).toEqual([]);
    const between = await of('--since', second.timestamp, '--until', last.timestamp);
    expect(between).toEqual(
      past.filter(({ timestamp }) => timestamp >= second.timestamp && timestamp < last.timestamp).map(({ id }) => id),
    );
  });

  test.each([
    ['--since', 'yesterday'],
    ['--until', '3months'],
  ])('are refused with a wrong value: %s %s', async (flag, value) => {
    for (const command of [['events'], ['history', deviceId], ['show', deviceId], ['watch'], ['daemon', 'audit']]) {
      const { code, stdout, stderr } = await daemon.run([...command, flag, value]);
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(flag) });
      expect(stderr).toMatch(/90d/);
    }
  });

  test('are --after and --before of earlier versions, and --from and --to', async () => {
    const [first, , third] = past as readonly [Event, Event, Event];
    expect(await idsOf(['events', deviceId, '--after', String(first.id)])).toEqual(ids(1));
    expect(await idsOf(['events', deviceId, '--before', String(third.id)])).toEqual(ids(0, 2));
    expect(
      await lines(['daemon', 'audit', '--device', 'E-1', '--from', '2000-01-01', '--to', '2100-01-01']),
    ).toHaveLength(5);
  });
});

describe('--type, --by, --device and --limit', () => {
  test('select the same in events, history and daemon audit', async () => {
    const updates = ['--type', 'DEVICE_UPDATED', '--by', 'admin', '--device', 'E-1', '--limit', '1'];
    expect(await idsOf(['events', ...updates])).toEqual(ids(3, 4));
    expect(await idsOf(['history', ...updates])).toEqual(ids(2, 3));
    const { rows } = await daemon.run(['daemon', 'audit', ...updates, '--json']);
    expect(rows.map(({ id }) => id)).toEqual(ids(3, 4));
    expect(await idsOf(['events', '--by', 'token:line-3'])).toEqual(ids(1, 2));
    expect(await idsOf(['events', deviceId, '--limit', '2'])).toEqual(ids(3));
    expect(await idsOf(['events', deviceId, '--limit', '2', '--since', '0'])).toEqual(ids(0, 2));
  });

  test('select the events in what show writes', async () => {
    const history = async (...words: string[]) =>
      (await daemon.run(['show', deviceId, ...words])).stdout.split('history:\n')[1]!.trimEnd().split('\n');
    expect(await history('--limit', '1')).toEqual([expect.stringContaining('locked: lost (by admin, ')]);
    expect(await history('--by', 'token:line-3')).toEqual([
      expect.stringContaining('activated for alice (by token:line-3, '),
    ]);
    expect(await history('--since', '0', '--type', 'DEVICE_REGISTERED')).toHaveLength(1);
  });

  test('end a watch, and select what it shows', async () => {
    const watch = async (...words: string[]) => (await daemon.run(['watch', '--since', '0', '--json', ...words])).rows;
    expect((await watch('--by', 'token:line-3', '--limit', '1')).map(({ id }) => id)).toEqual(ids(1, 2));
    expect((await watch('--device', deviceId, '--count', '5')).map(({ id }) => id)).toEqual(ids(0));
    const soon = new Date(Date.now() + 1500).toISOString();
    expect((await watch('--device', deviceId, '--until', soon)).map(({ id }) => id)).toEqual(ids(0));
    expect((await daemon.run(['watch', '--until', '1h'])).stderr).toContain('--until 1h is in the past');
  });

  test('refuse a DEALER who wants to know who did what', async () => {
    for (const command of [['events'], ['history', deviceId], ['show', deviceId], ['watch']]) {
      const { code, stderr } = await daemon.run([...command, '--by', 'admin'], { env: dealer });
      expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('ADMIN') });
    }
  });
});

test('--limit is --size of lists, --lines of the log and --count of a watch; each has one name in the help', async () => {
  expect(await lines(['list', '--limit', '1', '--quiet'])).toHaveLength(1);
  expect(await lines(['list', '--size', '1', '--quiet'])).toHaveLength(1);
  expect((await daemon.run(['list', '--limit', '101'])).stderr).toContain('--limit');
  for (const command of ['list', 'watch', 'daemon logs', 'cleanup apply', 'users list'])
    expect((await daemon.run([...command.split(' '), '--help'])).stdout).not.toMatch(/--(size|count|lines|max)\b/);
});

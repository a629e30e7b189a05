/** The lines of `watch` for people. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventLines } from '../../src/cli/commands/notifications/lines.ts';
import type { Context } from '../../src/cli/framework/context.ts';
import { plain } from '../../src/cli/terminal/style.ts';
import { width } from '../../src/cli/terminal/width.ts';
import type { EventType } from '../../src/contract/event-types.ts';
import type { Notification } from '../../src/contract/events.ts';
import { type Daemon, discard, startDaemon } from './program.ts';

/** A context for events that need no lookup. */
const contextWith = (stdoutIsTerminal: boolean, columns: number) =>
  ({ io: { stdoutIsTerminal, columns }, out: { paint: plain } }) as unknown as Context;

const event = (
  type: EventType,
  data: Record<string, unknown>,
  timestamp = '2026-03-01T12:30:05.123Z',
): Notification => ({
  id: 7,
  type,
  timestamp,
  data: { serialNumber: 'UK-2041', ...data },
});

describe('on a terminal', () => {
  test('the date has a line of its own when it changes', async () => {
    const lines = new EventLines(contextWith(true, 60), true);
    const shown = [
      await lines.of(event('DEVICE_UNLOCKED', {}, '2026-03-01T23:59:58Z')),
      await lines.of(event('DEVICE_UNLOCKED', {}, '2026-03-01T23:59:59Z')),
      await lines.of(event('DEVICE_UNLOCKED', {}, '2026-03-02T00:00:00Z')),
    ];
    expect(shown).toEqual([
      '-- 2026-03-01 --\n23:59:58Z  UK-2041  unlocked  #7\n',
      '23:59:59Z  UK-2041  unlocked  #7\n',
      '-- 2026-03-02 --\n00:00:00Z  UK-2041  unlocked  #7\n',
    ]);
  });

  test('an event of today has no date', async () => {
    const now = new Date().toISOString();
    expect(await new EventLines(contextWith(true, 60), true).of(event('DEVICE_UNLOCKED', {}, now))).not.toContain('--');
  });

  const long = { lockReason: 'reported as lost on the way to the customer, who will look for it again tomorrow' };
  test.each<[EventType, Record<string, unknown>]>([
    ['DEVICE_REGISTERED', { deviceType: 'SIMKEY', serialNumber: '8986000000000001232' }],
    ['DEVICE_ACTIVATED', { userId: 'a.very.long.name@department.example.com' }],
    ['DEVICE_LOCKED', long],
    ['KEY_ATTACHED', { manufacturer: 'Yubico', model: 'YubiKey 5 NFC', problem: 'no serial number can be read' }],
  ])('%s fits 60 columns', async (type, data) => {
    const text = await new EventLines(contextWith(true, 60), false).of(event(type, data));
    for (const line of text.split('\n')) expect(width(line)).toBeLessThanOrEqual(60);
  });
});

test('an event of a person names the person, and counts the devices', async () => {
  const lines = new EventLines(contextWith(false, Number.POSITIVE_INFINITY), true);
  const left = { personId: 'PER-7', source: 'scim', devices: 1, serialNumber: undefined };
  expect(await lines.of(event('PERSON_LEFT', left))).toBe(
    '2026-03-01 12:30:05Z  PER-7  has left (scim), 1 ACTIVE device  #7\n',
  );
});

test('elsewhere each line has its date', async () => {
  const lines = new EventLines(contextWith(false, Number.POSITIVE_INFINITY), true);
  expect(await lines.of(event('DEVICE_LOCKED', { lockReason: 'lost' }))).toBe(
    '2026-03-01 12:30:05Z  UK-2041  locked: lost  #7\n',
  );
});

test('an event without words of its own shows its type, and text that could control the terminal is escaped', async () => {
  const lines = new EventLines(contextWith(false, Number.POSITIVE_INFINITY), true);
  const hostile = event('NEWER\u001b[2J' as EventType, { serialNumber: 'A\u0007B' }, 'no time\u009b');
  expect(await lines.of(hostile)).toBe('no time\\x9b  A\\x07B  NEWER\\x1b[2J  #7\n');
});

describe('serial numbers', () => {
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => discard(daemon));

  test('are looked up for events that do not have them, and only some of them', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) ids.push((await daemon.register(`LINES-${n}`)).deviceId);
    const { head } = await daemon.call('GET', '/api/events?limit=1');
    for (const id of ids) await daemon.call('PUT', `/api/devices/${id}`, { note: 'n' });
    const args = ['watch', '--since', String(head), '--count', '30', '--verbose'];
    const { code, stdout, stderr } = await daemon.run(args);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}LINES-0 {2}updated: note none → n {2}by admin {2}#\d+$/,
    );
    expect(lines[29]).toMatch(new RegExp(` {2}${ids[29]} {2}updated: note none → n {2}by admin {2}#`));
    expect(stderr.match(/GET .*\/api\/devices\/DEV-/g)!.length).toBeLessThanOrEqual(20);
  });

  test('that earlier events name are not looked up', async () => {
    const { deviceId } = await daemon.register('LINES-KNOWN');
    const { head } = await daemon.call('GET', '/api/events?limit=1');
    await daemon.call('PUT', `/api/devices/${deviceId}`, { note: 'n' });
    const { stdout, stderr } = await daemon.run(['watch', '--since', String(head - 1), '--count', '2', '--verbose']);
    expect(stdout).toMatch(/LINES-KNOWN {2}registered \(UKEY\).*\n.*LINES-KNOWN {2}updated/);
    expect(stderr).not.toContain(`/api/devices/${deviceId}`);
  });
});

/** The checks of the cluster find what they look for. The cluster itself is not started. */
import { describe, expect, it } from 'vitest';
import { compare } from './journal.ts';
import type { Known } from './load.ts';
import { limitHere, pauseOf } from './pauses.ts';

const at = Date.UTC(2026, 0, 1);
const entry = (id: number, type: string, device = 1) => ({ id, at: at + id, type, device, subject: null, data: '{}' });
const journal = [entry(1, 'DEVICE_REGISTERED'), entry(2, 'DEVICE_ACTIVATED'), entry(3, 'DEVICE_USED')];
const row = { number: 1, serial_number: 'C-1', status: 'ACTIVE', note: null, usage_count: 1 };
const device: Known = {
  number: 1,
  serial: 'C-1',
  code: '',
  status: 'ACTIVE',
  note: null,
  uses: 1,
  expected: ['DEVICE_REGISTERED', 'DEVICE_ACTIVATED', 'DEVICE_USED'],
};
const frame = (id: number, type: string) =>
  JSON.stringify({ id, type, timestamp: new Date(at + id).toISOString(), data: { deviceId: 'DEV-1' } });
const frames = [frame(1, 'DEVICE_REGISTERED'), frame(2, 'DEVICE_ACTIVATED')];

/** The findings if the journal, the row of the device, the client's memory or the stream is another one. */
async function found({ events = journal, rows = [row] as object[], known = device, received = frames } = {}) {
  const query = async (sql: string) => (sql.includes('FROM event') ? events : rows) as Record<string, unknown>[];
  const streams = [{ name: 'the stream', frames: received }];
  return (await compare(query, 0, new Map([[1, known]]), streams)).faults;
}

describe('the comparison after a phase of the cluster', () => {
  it('finds nothing if all agree', async () => {
    expect(await found()).toEqual([]);
  });
  it('finds an acknowledged change that the journal lacks', async () => {
    const known = { ...device, expected: [...device.expected, 'DEVICE_LOCKED'] };
    expect(await found({ known })).toEqual([expect.stringContaining('DEV-1: acknowledged are')]);
  });
  it('finds a change that was carried out twice', async () => {
    const events = [...journal, entry(4, 'DEVICE_USED')];
    expect(await found({ events })).toEqual([expect.stringContaining('DEV-1: acknowledged are')]);
  });
  it('finds an entry of a device that no client has registered', async () => {
    const events = [...journal, entry(4, 'DEVICE_USED', 2)];
    expect(await found({ events })).toEqual([expect.stringContaining('DEV-2: acknowledged are ""')]);
  });
  it('finds a device that is lost, or in another state', async () => {
    expect(await found({ rows: [] })).toEqual(['DEV-1 is lost, not C-1 ACTIVE null 1']);
    expect(await found({ rows: [{ ...row, usage_count: 2 }] })).toEqual([
      'DEV-1 is C-1 ACTIVE null 2, not C-1 ACTIVE null 1',
    ]);
  });
  it('finds a gap in the ids of the journal, and a time that goes back', async () => {
    const gap = [entry(1, 'DEVICE_REGISTERED'), entry(2, 'DEVICE_ACTIVATED'), { ...journal[2]!, id: 4 }];
    expect(await found({ events: gap })).toEqual(['journal: entry 3 is 4']);
    const back = [journal[0]!, journal[1]!, { ...journal[2]!, at }];
    expect(await found({ events: back })).toEqual(['journal: the time of entry 3 is before that of 2']);
  });
  it('finds a gap, a repeat, another text and another order in a stream', async () => {
    const [first, second] = frames as [string, string];
    for (const received of [[second], [first], [first, first, second], [second, first], [first, `${second} `]])
      expect(await found({ received })).toEqual([expect.stringContaining('the stream: event')]);
  });
});

describe('the pause of the writes', () => {
  it('is the longest time without an acknowledgement, also at the beginning and the end', () => {
    const write = (sent: number, acknowledged: number) => ({ sent, acknowledged });
    expect(pauseOf([write(0, 1000), write(500, 3500)], 500, 4000)).toEqual({ silent: 2.5, longest: 3 });
    expect(pauseOf([write(0, 5000)], 1000, 5100).silent).toBe(4);
    expect(pauseOf([write(0, 1100)], 1000, 6000).silent).toBe(4.9);
    expect(pauseOf([], 0, 6000)).toEqual({ silent: 6, longest: 0 });
  });

  it('has a limit that grows with what passes without a write while nothing is wrong', () => {
    expect(limitHere(3, { silent: 0.4, longest: 1 })).toBe(5);
  });
});

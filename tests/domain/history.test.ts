/** Streams that catch up with the journal: how many at once, in which order, how fast. */
import { expect, it } from 'vitest';
import { journalTypes } from '../../daemon/notifications/frames.ts';
import { History } from '../../daemon/notifications/history.ts';
import { Outbox } from '../../daemon/notifications/outbox.ts';
import { Recent } from '../../daemon/notifications/recent.ts';
import { entry } from '../support/journal.ts';

/** A journal of this many entries, of which only the last is in memory. */
function journal(head: number) {
  const recent = new Recent(head);
  const pauses: (() => void)[] = [];
  let reads = 0;
  const history = new History({
    store: {
      events: async ({ after = 0, limit = 0 }) => {
        reads++;
        return Array.from({ length: Math.min(limit, head - after) }, (_, i) => entry(after + 1 + i));
      },
    },
    head: () => head,
    onError: error => {
      throw error;
    },
    pause: () => new Promise<void>(resolve => pauses.push(resolve)),
  });
  const settled = () => new Promise(setImmediate);
  return {
    history,
    reads: () => reads,
    settled,
    /** Ends every pause that has started. */
    async pass() {
      for (const end of pauses.splice(0)) end();
      await settled();
    },
    /** Opens a stream from the start of the journal; `bytes` is what it has received. */
    stream(user: number, full = false) {
      const sent = { bytes: 0, outbox: null as unknown as Outbox, full };
      const sink = {
        write: (frames: Buffer) => {
          sent.bytes += frames.length;
        },
        get full() {
          return sent.full;
        },
        waiting: 0,
        taken: 0,
        ping: () => undefined,
        close: () => undefined,
        terminate: () => undefined,
      };
      sent.outbox = new Outbox({
        sink,
        recent,
        recentForAdmins: recent,
        withActor: () => false,
        wanted: journalTypes,
        cursor: 0,
        requestHistory: outbox => history.request(outbox, String(user)),
        onCaughtUp: outbox => history.release(outbox, String(user)),
      });
      sent.outbox.pump();
      return sent;
    },
  };
}
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

it('at most four streams of a user catch up at once; one that has caught up or closed makes room for another', async () => {
  const { stream, pass, history } = journal(1_000_000);
  const streams = times(10, () => stream(1));
  const begun = () => streams.map(({ bytes }) => bytes > 0);
  for (let i = 0; i < 10; i++) await pass();
  expect(begun()).toEqual([...Array(4).fill(true), ...Array(6).fill(false)]);
  history.release(streams[1]!.outbox, '1');
  for (let i = 0; i < 10; i++) await pass();
  expect(begun()).toEqual([...Array(5).fill(true), ...Array(5).fill(false)]);
});

it('all streams catch up eventually, even if the last batch of some waits for their connection', async () => {
  const { stream, pass } = journal(1_000);
  const streams = times(20, () => stream(1));
  await pass();
  for (const one of streams) one.full = true;
  for (let i = 0; i < 100; i++) {
    await pass();
    for (const one of streams) {
      one.full = i % 2 === 0;
      one.outbox.pump();
    }
  }
  expect(streams.map(({ outbox }) => outbox.cursor)).toEqual(Array(20).fill(1_000));
});

it('a user with many streams gets as many reads as one with few', async () => {
  const { stream, pass } = journal(1_000_000);
  const many = times(200, () => stream(1));
  const few = times(4, () => stream(2));
  for (let i = 0; i < 100; i++) await pass();
  const total = (streams: readonly { bytes: number }[]) => streams.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(total(few) / total(many)).toBeGreaterThan(0.9);
});

it('the journal is read four times between two pauses, however many streams request it', async () => {
  const { stream, pass, reads, settled } = journal(1_000_000);
  for (let user = 0; user < 50; user++) times(10, () => stream(user));
  await settled();
  const before = reads();
  for (let i = 0; i < 25; i++) await pass();
  expect([before, reads()]).toEqual([4, 104]);
});

/** A store that is away fails for every stream at each check: the log gets a line a second. */
import { expect, it } from 'vitest';
import { journalTypes } from '../../daemon/notifications/frames.ts';
import { Hub } from '../../daemon/notifications/hub.ts';
import { StoreUnavailable } from '../../daemon/store/commit.ts';

const away = async () => {
  throw new StoreUnavailable('away');
};
const sink = {
  write: () => {},
  full: false,
  waiting: 0,
  taken: 0,
  ping: () => {},
  close: () => {},
  terminate: () => {},
};
const turn = () => new Promise(setImmediate);

it('warns once a second, and shows how many warnings were withheld', async () => {
  const lines: object[] = [];
  let now = 0;
  let sweep = () => {};
  const hub = new Hub({
    store: { events: away, lastEventId: async () => 0, onCommit: () => () => {}, behind: () => 60_000 },
    log: { warn: (details, message) => void lines.push({ ...details, message }) },
    monotonic: () => now,
    every: (_milliseconds, call) => {
      sweep = call;
      return () => {};
    },
  });
  await hub.ready();
  for (let i = 0; i < 50; i++) {
    const listener = { sink, holder: `user ${i}`, expiresAt: Number.MAX_SAFE_INTEGER, isTokenValid: away };
    hub.subscribe({ ...listener, wanted: journalTypes, since: null });
  }
  await turn();
  const message = 'could not check the token of a stream; trying again';
  expect(lines).toEqual([{ err: expect.any(StoreUnavailable), message }]);
  now = 1000;
  sweep();
  await turn();
  await turn();
  expect(lines.slice(1)).toEqual([{ err: expect.any(StoreUnavailable), message, withheld: 49 }]);
});

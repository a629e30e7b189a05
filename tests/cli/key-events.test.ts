/** Keys as the command line follows them: the stream and the looks at the list, in the orders in which they can come. */
import { expect, onTestFinished, test } from 'vitest';
import type { Key } from '../../src/api/hardware.ts';
import { Client } from '../../src/client/client.ts';
import type { Context } from '../../src/commands/context.ts';
import { keyEvents } from '../../src/commands/key-events.ts';
import { startStreamServer } from '../support/stream-server.ts';

const keyOf = (keyId: string, serialNumber: string | null = keyId) => ({ keyId, serialNumber }) as Key;

/** A real stream, and lists of keys that are answered when the test says so. */
async function followed() {
  const server = await startStreamServer();
  const ending = new AbortController();
  const address = () => Promise.resolve(server.url);
  const nothing = () => undefined;
  const hardware = new Client({
    place: { address, whereabouts: address, revive: () => Promise.resolve(false) },
    session: { token: () => Promise.resolve(server.token) },
    signal: ending.signal,
    wait: false,
    notice: nothing,
    waiting: nothing,
    trace: nothing,
  });
  const looks: ((list: readonly Key[]) => void)[] = [];
  const asked = new Map<number, () => void>();
  Object.assign(hardware, {
    call: () =>
      new Promise(resolve => {
        looks.push(list => resolve({ list, drivers: [] }));
        asked.get(looks.length)?.();
      }),
  });
  const events = keyEvents({ hardware, io: { interrupt: ending.signal } } as unknown as Context);
  onTestFinished(async () => {
    ending.abort();
    await server.stop();
  });
  return {
    hub: server.hub,
    next: async () => (await events.next()).value,
    /** The answer to a look, when it is asked for. */
    look: (number: number) =>
      new Promise<(list: readonly Key[]) => void>(resolve => {
        const given = () => resolve(looks[number - 1]!);
        if (looks.length >= number) given();
        else asked.set(number, given);
      }),
  };
}

test('a key that was pulled while a list was on its way is not taken for plugged by that list', async () => {
  const { hub, next, look } = await followed();
  const first = next();
  (await look(1))([]);
  // The second is asked for as soon as the stream stands.
  const answer = await look(2);
  hub.publish('KEY_ATTACHED', 0, keyOf('k-1'));
  expect(await first).toEqual({ type: 'KEY_ATTACHED', key: keyOf('k-1'), again: false });
  hub.publish('KEY_DETACHED', 0, keyOf('k-1'));
  expect(await next()).toMatchObject({ type: 'KEY_DETACHED', key: { keyId: 'k-1' } });
  answer([keyOf('k-1')]);
  hub.publish('KEY_ATTACHED', 0, keyOf('k-2'));
  expect(await next()).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'k-2' } });
});

test('a key that came while a list was on its way is not taken for pulled by that list', async () => {
  const { hub, next, look } = await followed();
  const first = next();
  (await look(1))([]);
  const answer = await look(2);
  hub.publish('KEY_ATTACHED', 0, keyOf('k-1'));
  expect(await first).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'k-1' } });
  answer([]);
  hub.publish('KEY_ATTACHED', 0, keyOf('k-2'));
  expect(await next()).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'k-2' } });
});

test('a key whose coming no stream told is told by the list, and once more when its serial can be read', async () => {
  const { hub, next, look } = await followed();
  const first = next();
  (await look(1))([keyOf('k-1', null)]);
  expect(await first).toEqual({ type: 'KEY_ATTACHED', key: keyOf('k-1', null), again: false });
  const second = next();
  (await look(2))([keyOf('k-1', null), keyOf('k-2')]);
  expect(await second).toEqual({ type: 'KEY_ATTACHED', key: keyOf('k-2'), again: false });
  hub.publish('KEY_ATTACHED', 0, keyOf('k-1', 'A-1'));
  expect(await next()).toEqual({ type: 'KEY_ATTACHED', key: keyOf('k-1', 'A-1'), again: true });
});

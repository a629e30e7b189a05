/** How the command line follows attached keys: events and lists in every order in which they can arrive. */
import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ServerRefusal, Unreachable } from '../../src/cli/client/failures.ts';
import { enrollKeys } from '../../src/cli/commands/enrollment/enroll/enroll.ts';
import { keyEvents } from '../../src/cli/commands/enrollment/enroll/key-events.ts';
import type { Context } from '../../src/cli/framework/context.ts';
import type { Key } from '../../src/contract/hardware.ts';
import { quietClient, startStreamServer } from '../support/stream-server.ts';
import { temporaryFolder } from '../support/temporary.ts';

const keyOf = (keyId: string, serialNumber: string | null = keyId) =>
  ({ keyId, serialNumber, transport: 'HID', simulated: false }) as Key;

type Look = ((list: readonly Key[]) => void) & { readonly fail: (error: Error) => void };

/** A real stream, and key lists that arrive when the test releases them. */
async function followed() {
  const server = await startStreamServer();
  const sockets = new Set<Socket>();
  server.app.server.on('connection', socket => sockets.add(socket));
  const ending = new AbortController();
  const hardware = quietClient(server.url, server.token, ending.signal);
  const looks: Look[] = [];
  const asked = new Map<number, () => void>();
  Object.assign(hardware, {
    call: () =>
      new Promise((resolve, reject) => {
        looks.push(Object.assign((list: readonly Key[]) => resolve({ list, drivers: [] }), { fail: reject }));
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
    hardware,
    interrupt: ending.signal,
    /** Breaks the connection of the stream. */
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    next: async () => (await events.next()).value,
    /** The response to the next request of the list. */
    look: (number: number) =>
      new Promise<Look>(resolve => {
        const given = () => resolve(looks[number - 1]!);
        if (looks.length >= number) given();
        else asked.set(number, given);
      }),
  };
}

test('a key that was detached while a list was in flight is not attached again by that list', async () => {
  const { hub, next, look } = await followed();
  const first = next();
  (await look(1))([]);
  // The second one is requested as soon as the stream is connected.
  const answer = await look(2);
  hub.publish('KEY_ATTACHED', 0, keyOf('k-1'));
  expect(await first).toEqual({ type: 'KEY_ATTACHED', key: keyOf('k-1'), again: false, before: null, isSeen: true });
  hub.publish('KEY_DETACHED', 0, keyOf('k-1'));
  expect(await next()).toMatchObject({ type: 'KEY_DETACHED', key: { keyId: 'k-1' } });
  answer([keyOf('k-1')]);
  hub.publish('KEY_ATTACHED', 0, keyOf('k-2'));
  expect(await next()).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'k-2' } });
});

test('a key that was attached while a list was in flight is not detached by that list', async () => {
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

test('a key that the stream missed is reported from the list, and again when its serial number is readable', async () => {
  const { hub, next, look } = await followed();
  const first = next();
  (await look(1))([keyOf('k-1', null)]);
  expect(await first).toEqual({
    type: 'KEY_ATTACHED',
    key: keyOf('k-1', null),
    again: false,
    before: null,
    isSeen: true,
  });
  const second = next();
  (await look(2))([keyOf('k-1', null), keyOf('k-2')]);
  expect(await second).toEqual({ type: 'KEY_ATTACHED', key: keyOf('k-2'), again: false, before: null, isSeen: true });
  hub.publish('KEY_ATTACHED', 0, keyOf('k-1', 'A-1'));
  expect(await next()).toEqual({
    type: 'KEY_ATTACHED',
    key: keyOf('k-1', 'A-1'),
    again: true,
    before: null,
    isSeen: true,
  });
});

test('a lost list does not end the events', async () => {
  const { hub, next, look } = await followed();
  const first = next();
  (await look(1))([]);
  (await look(2)).fail(new Unreachable('the connection was lost', true));
  hub.publish('KEY_ATTACHED', 0, keyOf('k-1'));
  expect(await first).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'k-1' } });
});

test('a refused list ends the events', async () => {
  const { next, look } = await followed();
  const first = next();
  (await look(1))([]);
  (await look(2)).fail(new ServerRefusal(1005, 'token expired'));
  await expect(first).rejects.toThrow('token expired');
});

test('a key with a new keyId after a restart of the daemon is reported as detached, then as attached, also before the stream was there', async () => {
  const { next, look } = await followed();
  const first = next();
  (await look(1))([keyOf('old', 'A-1')]);
  expect(await first).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'old' } });
  const second = next();
  (await look(2))([keyOf('new', 'A-1')]);
  expect(await second).toMatchObject({ type: 'KEY_DETACHED', key: { keyId: 'old' } });
  expect(await next()).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'new' }, before: 'old' });
});

test('the same if the stream reports it before the list', async () => {
  const { hub, next, look, cut } = await followed();
  const first = next();
  (await look(1))([keyOf('old', 'A-1')]);
  expect(await first).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'old' } });
  const second = next();
  (await look(2))([keyOf('old', 'A-1')]);
  cut();
  const answer = await look(3);
  hub.publish('KEY_ATTACHED', 0, keyOf('new', 'A-1'));
  expect(await second).toMatchObject({ type: 'KEY_DETACHED', key: { keyId: 'old' } });
  expect(await next()).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'new' } });
  answer([keyOf('new', 'A-1')]);
  hub.publish('KEY_ATTACHED', 0, keyOf('k-2'));
  expect(await next()).toMatchObject({ type: 'KEY_ATTACHED', key: { keyId: 'k-2' } });
});

test('a key that failed and is registered when it is plugged in again does not count as failed', async () => {
  const { hardware, interrupt, look } = await followed();
  const refusals = [new ServerRefusal(500, 'the disk is full')];
  const registry = {
    token: () => Promise.resolve('token'),
    async call(name: string) {
      if (name === 'listDevices') return { list: [], pagination: { totalPages: 0 } };
      const refusal = name === 'registerDevice' ? refusals.shift() : undefined;
      if (refusal) throw refusal;
      return { deviceId: 'DEV-1', activationCode: 'AAAA', status: 'INACTIVE' };
    },
    send: async ({ operation }: { operation: string }) => ({ data: await registry.call(operation) }),
  };
  const rows: { result: string }[] = [];
  const nothing = () => undefined;
  const context = {
    hardware,
    registry,
    io: { interrupt, stderrIsTerminal: false, columns: Number.POSITIVE_INFINITY },
    globals: { json: true, quiet: false },
    settings: { server: null, home: temporaryFolder() },
    identities: () => [],
    out: { row: (row: { result: string }) => void rows.push(row), notice: nothing, trace: nothing, end: nothing },
  } as unknown as Context;
  const none = {
    manufacturer: null,
    model: null,
    activateFor: null,
    proof: null,
    tags: null,
    type: null,
    out: null,
    label: null,
    receipt: null,
    issue: null,
    spool: null,
    count: null,
    ownNumber: { kind: 'ask' } as const,
  };
  const code = enrollKeys(context, { ...none, dryRun: false, skipAttached: false, again: false, timeoutSeconds: 1 });
  (await look(1))([keyOf('k-1', 'A-1')]);
  (await look(2))([keyOf('k-1', 'A-1')]);
  (await look(3))([keyOf('k-2', 'A-1')]);
  expect(await code).toBe(0);
  expect(rows.map(({ result }) => result)).toEqual(['failed', 'registered']);
});

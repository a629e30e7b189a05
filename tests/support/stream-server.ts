/** A listening server with the notification stream alone, on a real store, whose clocks stand still until a test moves them. */
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { Accounts } from '../../daemon/accounts/accounts.ts';
import { Tokens } from '../../daemon/accounts/tokens.ts';
import { originRule } from '../../daemon/http/origin.ts';
import { buildServer } from '../../daemon/http/server.ts';
import { Hub } from '../../daemon/notifications/hub.ts';
import { websocketPlugin } from '../../daemon/notifications/websocket.ts';
import type { UserRecord } from '../../daemon/requests/callers.ts';
import type { Change } from '../../daemon/store/commit.ts';
import { Client, type ClientOptions } from '../../src/cli/client/client.ts';
import { undescribed } from '../../src/contract/device-description.ts';
import { openTemporary } from './sqlite.ts';

export type StreamServer = Awaited<ReturnType<typeof startStreamServer>>;

export async function startStreamServer(options: { streams?: { each: number; all: number } } = {}) {
  const { store, cleanup } = await openTemporary();
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: line => void lines.push(line) });
  const clock = { wall: Date.now(), monotonic: 0 };
  const now = () => clock.wall;
  let sweep = () => {};
  const accounts = new Accounts(store);
  const tokens = new Tokens([{ key: new Uint8Array(32).fill(1), createdAt: null, replacedAt: null }], accounts, now);
  const hub = new Hub({
    store,
    log: logger,
    now,
    monotonic: () => clock.monotonic,
    every: (_milliseconds, call) => {
      sweep = call;
      return () => {
        sweep = () => {};
      };
    },
  });
  const origin = originRule('127.0.0.1', []);
  const app = await buildServer({ logger, origin, trustProxy: [] }, [
    websocketPlugin({ hub, tokens, store, origin, ...options }),
  ]);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  const commit = (...changes: Change[]) => store.commit({ at: clock.wall, actor: 'test', requestId: null, changes });
  const addUser = async (username: string): Promise<UserRecord> => {
    const user = { username, passwordHash: 'none', role: 'VIEWER', email: null, disabled: false } as const;
    const [outcome] = await commit({ kind: 'user.add', user, entry: { type: 'USER_CREATED' } });
    return (await store.user((outcome as { number: number }).number))!;
  };
  const user = await addUser('watcher');
  return {
    url,
    store,
    hub,
    app,
    tokens,
    user,
    token: tokens.issue(user).token,
    clock,
    commit,
    addUser,
    logged: () => lines.join(''),
    /** Lets time pass, second by second, as the hub's timer would see it. */
    async pass(seconds: number) {
      for (let i = 0; i < seconds; i++) {
        clock.wall += 1000;
        clock.monotonic += 1000;
        sweep();
        // The look at all consumers is done in slices of the loop, and what is sent has to get out.
        await new Promise(setImmediate);
      }
    },
    async stop() {
      await app.close();
      await cleanup();
    },
  };
}

let serial = 0;
/** The change that registers one device. */
export function registration(serialNumber = `S-${++serial}`): Change {
  return {
    kind: 'device.add',
    device: {
      ...undescribed,
      deviceType: 'UKEY',
      serialNumber,
      manufacturer: 'Maker',
      model: 'Model',
      activationCode: 'AAAA-BBBB-CCCC-DDDD',
      tags: {},
      proof: null,
      activationCodeExpiresAt: 4_102_444_800_000,
    },
    entry: { type: 'DEVICE_REGISTERED', data: { deviceType: 'UKEY', serialNumber } },
  };
}

/** An entry of the journal that is not sent as a notification. */
export const unnotified = (number: number): Change => ({
  kind: 'user.set',
  user: number,
  set: {},
  revoke: false,
  entry: { type: 'USER_UPDATED' },
});

/** A client of the server at an address, which reports nothing. */
export function quietClient(
  url: string,
  token: string,
  signal: AbortSignal,
  more: Partial<ClientOptions> = {},
): Client {
  const address = () => Promise.resolve(url);
  const silent = () => undefined;
  return new Client({
    endpoint: { address, currentAddress: address, socketPath: null, restart: () => Promise.resolve(false) },
    session: { token: () => Promise.resolve(token) },
    signal,
    wait: false,
    notice: silent,
    waiting: silent,
    trace: silent,
    ...more,
  });
}

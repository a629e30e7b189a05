/** A hardware service whose only key is an authenticator with a PIN and stored credentials, behind the real driver. */
import { expect, vi } from 'vitest';
import { AttachedKeys } from '../../daemon/hardware/attached-keys.ts';
import type { TrafficLine } from '../../drivers/driver.ts';
import { createHidDriver } from '../../drivers/hid/index.ts';
import { FakeHid } from './fake-hid.ts';
import { FidoKey } from './fido-key.ts';
import { answering, json, success } from './http-servers.ts';
import { IssuableAuthenticator, type IssuableOptions } from './issuable-authenticator.ts';
import { openTemporary } from './sqlite.ts';
import { authenticatorRoot } from './test-authenticator.ts';

/**
 * Lives as long as the test. `bodies`: what was asked of the key. `hooks.before`: called before it is. `logged`: what a log at its
 * most verbose has, with all traffic.
 */
export async function issuingStation(
  serialNumber: string,
  { isFresh = true, ...options }: Partial<IssuableOptions> & { readonly isFresh?: boolean } = {},
) {
  const { store, cleanup } = await openTemporary();
  const aaguid = 'ee882879-721c-4913-9775-3dfcce97072a';
  const authenticator = new IssuableAuthenticator({ root: authenticatorRoot(), aaguid, ...options });
  const fido = new FidoKey({ authenticator, touched: true, issued: true });
  const system = new FakeHid();
  const logged: string[] = [];
  const note = (...what: unknown[]) => void logged.push(JSON.stringify(what));
  const log = { debug: note, info: note, warn: note };
  const traffic = ({ bytes, ...line }: TrafficLine) => note(line, Buffer.from(bytes).toString('hex'));
  const hub = { publish: () => {} };
  const clock = { ms: 0 };
  const drivers = [createHidDriver({ system, traffic })];
  const keys = new AttachedKeys({ drivers, store, hub, now: Date.now, monotonic: () => clock.ms, log });
  const plug = () => system.plug({ serial: serialNumber, interfaces: { fido } });
  // A key that is plugged in before has been there for a time that is not known.
  if (isFresh) await keys.start();
  let address = plug();
  if (!isFresh) await keys.start();
  const attached = (count: number) =>
    vi.waitFor(async () => expect(await keys.list()).toHaveLength(count), { timeout: 10_000 });
  /** Unplugs the key and plugs it in again; it has another id then. `between`: called while it is away. */
  const replug = async (between?: () => Promise<unknown>) => {
    system.unplug(address);
    await attached(0);
    await between?.();
    authenticator.replug();
    address = plug();
    await attached(1);
  };
  if (isFresh) await attached(1);
  const bodies: Record<string, unknown>[] = [];
  const hooks = { before: async (_body: Record<string, unknown>) => {} };
  const { url } = await answering(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const send = (data: unknown) => response.writeHead(200, json).end(success(data));
    const list = await keys.list();
    if (request.method === 'GET') return void send({ list, drivers: keys.driverStatuses() });
    const body = JSON.parse(Buffer.concat(parts).toString());
    bodies.push(body);
    await hooks.before(body);
    send(await keys.issue(list[0]!.keyId, body, new AbortController().signal));
  });
  const stop = async () => {
    await keys.stop();
    await cleanup();
  };
  /** Milliseconds pass, of which the key itself knows nothing: its firmware accepts a reset at any time. */
  const wait = (ms: number): void => {
    clock.ms += ms;
  };
  return { url, authenticator, fido, replug, wait, bodies, hooks, logged, stop };
}

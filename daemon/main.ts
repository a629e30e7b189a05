/** The composition root of the daemon: creates the parts, connects them, starts and stops them. */
import { readFile, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { DaemonInfo } from '../src/contract/local.ts';
import { routes } from '../src/contract/routes.ts';
import { keepEarlierBlobs, openBlobs } from './blobs/blobs.ts';
import { AttachedKeys } from './hardware/attached-keys.ts';
import { createDrivers } from './hardware/drivers.ts';
import { Home } from './home/home.ts';
import { keepLocalToken } from './home/local-token.ts';
import { type HomeLock, lockHome } from './home/lock.ts';
import { checkNetwork, type DaemonSettings, StartRefused } from './home/settings.ts';
import { signingKeys } from './home/signing-keys.ts';
import { metricsPlugin } from './http/metrics.ts';
import type { OperationParts } from './http/operation.ts';
import { originRule } from './http/origin.ts';
import { documents } from './http/routes/documents.ts';
import {
  appRoutes,
  backupRoutes,
  deviceRoutes,
  hardwareRoutes,
  type KeySource,
  systemRoutes,
  userRoutes,
} from './http/routes/operations.ts';
import { buildServer } from './http/server.ts';
import { websocketPlugin } from './http/websocket.ts';
import { refuseWrongMethods } from './http/wrong-methods.ts';
import type { Logger } from './logger.ts';
import { Hub } from './notifications/hub.ts';
import { Accounts } from './services/accounts.ts';
import { AppService } from './services/apps.ts';
import { AuthService } from './services/auth.ts';
import { BackupService } from './services/backups.ts';
import { DeviceService } from './services/devices.ts';
import { ensureFirstAdmin, FIRST_USER, firstPassword } from './services/first-admin.ts';
import { Limiter } from './services/limiter.ts';
import { Passwords } from './services/passwords.ts';
import { Tokens } from './services/tokens.ts';
import { UserService } from './services/users.ts';
import type { Store } from './store/store.ts';
import { openStore } from './store-engine.ts';

/** A daemon that accepts requests. */
export interface RunningDaemon {
  readonly url: string;
  /** The first administrator's password if this start has generated it, else null. */
  readonly initialPassword: string | null;
  /** Reads the signing keys and the certificate again. Never rejects: errors are logged, and the previous ones stay in use. */
  reload(): Promise<void>;
  /** Stops the daemon: finishes running requests, closes the streams and the store. Idempotent. */
  stop(): Promise<void>;
}

/** The parts that were started, to be stopped in reverse order. */
class ShutdownStack {
  readonly #stops: (() => unknown)[] = [];
  #stopping: Promise<void> | undefined;

  add(stop: () => unknown): void {
    this.#stops.push(stop);
  }

  unwind(log: Logger): Promise<void> {
    this.#stopping ??= (async () => {
      for (const stop of this.#stops.reverse()) {
        try {
          await stop();
        } catch (error) {
          log.error({ err: error }, 'a part did not stop cleanly');
        }
      }
    })();
    return this.#stopping;
  }
}

/** Milliseconds that a request for the keys waits for the first scan of the hardware. */
const FIRST_SCAN_MS = 3000;

/** Seconds that a stop waits for running requests. */
const GRACE_SECONDS = 10;

/** Starts a daemon. Rejects with `StartRefused` if it cannot start; then everything that was started is stopped again. */
export async function startDaemon(settings: DaemonSettings, version: string, log: Logger): Promise<RunningDaemon> {
  checkNetwork(settings);
  const stack = new ShutdownStack();
  try {
    return await start(settings, version, log, stack);
  } catch (error) {
    await stack.unwind(log);
    throw error;
  }
}

async function start(
  settings: DaemonSettings,
  version: string,
  log: Logger,
  stack: ShutdownStack,
): Promise<RunningDaemon> {
  const now = Date.now;
  const home = await Home.open(settings.home);
  const lock: HomeLock = await lockHome(home);
  stack.add(() => lock.release());
  // Another thread computes the hash while the rest starts: saves 150 of 450 ms of a first start (measured).
  const isNew = !(await home.has('database'));
  const hashing = isNew ? firstPassword(home, settings.admin) : null;
  hashing?.catch(() => {});
  // A home prepared for a restore, or one that has lost its database: the new registry would remove all files as strays.
  if (isNew && (await keepEarlierBlobs(home.path('blobs'))))
    log.warn(
      'the files of an earlier registry were moved to a folder beside it; "devmgr daemon restore" brings back those it needs',
    );
  const store = await openStore(home, message => log.info(message));
  stack.add(() => store.close());

  const limiter = new Limiter(settings.limits);
  const passwords = new Passwords(store, limiter);
  const accounts = new Accounts(store);
  const tokens = new Tokens(await signingKeys(home, now()), accounts, now);
  const firstAdmin = ensureFirstAdmin({ store, home, hashing, admin: settings.admin, now, log });
  firstAdmin.catch(() => {});
  const parts: OperationParts = { tokens, limiter };
  const auth = new AuthService({ store, passwords, tokens, now });
  const devices = new DeviceService({ store, passwords, now });
  const blobs = await openBlobs(home.path('blobs'), { notice: message => log.info(message) });
  await blobs.sweep(names => store.knownBlobs(names));
  stack.add(() => blobs.discardAll());
  const apps = new AppService({ store, blobs, now });
  const backups = new BackupService({ store, blobs, now });
  const hub = new Hub({ store, log });
  const drivers = createDrivers(settings, log);
  const keys = new AttachedKeys({ drivers, store, hub, now, log });
  const origin = originRule(settings.host, settings.allowHosts);
  const users = new UserService({
    store,
    passwords,
    now,
    onPasswordChanged: async user => {
      if (user === FIRST_USER) await home.remove('initialPassword');
    },
  });

  let started = Promise.resolve();
  const app = await buildServer(
    {
      logger: log,
      origin,
      trustProxy: settings.trustProxy,
      tls: await tlsOf(settings, log),
    },
    [
      app => metricsPlugin(app, { ...parts, gauges: () => gauges(store, hub) }),
      app => userRoutes(app, { ...parts, auth, users }),
      app => deviceRoutes(app, { ...parts, devices }),
      app => appRoutes(app, { ...parts, apps }),
      app => backupRoutes(app, { ...parts, backups }),
      app => hardwareRoutes(app, { ...parts, keys: onceStarted(keys, () => started) }),
      app => documents(app, { version }),
      app => refuseWrongMethods(app, Object.values(routes)),
      app => systemRoutes(app, { ...parts, store, version, drivers: () => keys.driverStatuses() }),
      websocketPlugin({ hub, tokens, origin }),
    ],
  );
  stack.add(() => closeServer(app, log));
  await hub.ready();
  const initialPassword = await firstAdmin;
  const localToken = await keepLocalToken(home, tokens, now, log);
  stack.add(() => localToken.stop());
  const url = await listen(app, settings);
  // Loading the native libraries takes longer than the rest of the start: requests need not wait for it.
  started = keys.start();
  stack.add(() => keys.stop());
  await publish(home, { pid: process.pid, url, version, startedAt: new Date(now()).toISOString() });
  stack.add(() => home.remove('daemonInfo'));
  log.info({ url, version, home: home.dir }, 'listening');
  const reload = async () => {
    try {
      tokens.useKeys(await signingKeys(home, now()));
      await localToken.renew();
      const tls = await tlsOf(settings, log);
      if (tls) (app.server as unknown as TlsServer).setSecureContext(tls);
      log.info('signing keys and certificate reloaded');
    } catch (error) {
      log.error({ err: error }, 'signing keys or certificate could not be reloaded; the previous ones stay in use');
    }
  };
  return { url, initialPassword, reload, stop: () => stack.unwind(log) };
}

/** An early request for the keys waits for the first scan, but not for a driver that hangs. */
function onceStarted(keys: AttachedKeys, started: () => Promise<void>): KeySource {
  return {
    driverStatuses: () => keys.driverStatuses(),
    async list() {
      await Promise.race([started(), new Promise<void>(resolve => setTimeout(resolve, FIRST_SCAN_MS).unref())]);
      return keys.list();
    },
  };
}

async function gauges(store: Store, hub: Hub) {
  const { total } = await store.devices({ sortBy: 'createTime', descending: true, offset: 0, limit: 1 });
  return {
    devmgr_devices: { help: 'Devices registered', value: total },
    devmgr_journal_entries: { help: 'Entries of the journal', value: await store.lastEventId() },
    devmgr_streams: { help: 'Notification streams open', value: hub.size },
    devmgr_resident_bytes: { help: 'Resident memory of the daemon', value: process.memoryUsage.rss() },
  };
}

/** Throws `StartRefused` if the files are missing, not PEM, or do not belong together. */
async function tlsOf(
  { tlsCert, tlsKey }: DaemonSettings,
  log: Logger,
): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (!tlsCert || !tlsKey) return undefined;
  const { createSecureContext } = await import('node:tls');
  try {
    const tls = { cert: await readFile(tlsCert), key: await readFile(tlsKey) };
    createSecureContext(tls);
    if (process.platform !== 'win32' && (await stat(tlsKey)).mode & 0o004)
      log.warn(
        { key: tlsKey, fix: `chmod o-r ${tlsKey}` },
        'every user of this machine can read the key of the certificate',
      );
    return tls;
  } catch (error) {
    throw new StartRefused(
      1,
      `the certificate ${tlsCert} or its key ${tlsKey} cannot be used: ${(error as Error).message}`,
      'both must be PEM files that belong together',
    );
  }
}

async function listen(app: FastifyInstance, settings: DaemonSettings): Promise<string> {
  try {
    await app.listen({ host: settings.host, port: settings.port, listenTextResolver: () => 'the port is open' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const where = `${settings.host}:${settings.port}`;
    if (code === 'EADDRINUSE')
      throw new StartRefused(
        1,
        `${where} is in use by another program`,
        'name another port with --port, or 0 for a free one',
      );
    throw new StartRefused(1, `cannot listen on ${where} (${code})`, 'check --host and --port');
  }
  const { port } = app.server.address() as AddressInfo;
  const host = settings.host.includes(':') && !settings.host.startsWith('[') ? `[${settings.host}]` : settings.host;
  return `${settings.tlsCert ? 'https' : 'http'}://${host}:${port}`;
}

/** Writes where the daemon is, for the command line of the same user. */
async function publish(home: Home, info: DaemonInfo): Promise<void> {
  await home.writeSecret('daemonInfo', `${JSON.stringify(info)}\n`);
}

/** Finishes running requests; closes the connections of those that take longer than the grace period. */
async function closeServer(app: FastifyInstance, log: Logger): Promise<void> {
  const timer = setTimeout(() => {
    log.warn('closing the connections of requests that are still running');
    app.server.closeAllConnections();
  }, GRACE_SECONDS * 1000);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

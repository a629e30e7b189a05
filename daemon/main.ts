/** The composition root of the daemon: creates the parts, connects them, starts and stops them. */
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server as TlsServer } from 'node:tls';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { DaemonInfo } from '../src/contract/local.ts';
import { routes } from '../src/contract/routes.ts';
import type { Assembled } from './assembled.ts';
import type { Forwarder } from './forwarding/forwarder.ts';
import { AttachedKeys } from './hardware/attached-keys.ts';
import { createDrivers } from './hardware/drivers.ts';
import { afterFirstScan } from './hardware/first-scan.ts';
import { Home } from './home/home.ts';
import { Instance } from './home/instance.ts';
import { keepLocalToken } from './home/local-token.ts';
import { lockHome } from './home/lock.ts';
import { SecretsWatch } from './home/secrets-watch.ts';
import { checkNetwork, checkRole, type DaemonSettings, isBehindProxy } from './home/settings.ts';
import { signingKeys } from './home/signing-keys.ts';
import { KeyedRequests } from './http/idempotency.ts';
import { closeServer, listen, readTls, tlsOptions } from './http/listener.ts';
import { metricsPlugin } from './http/metrics.ts';
import { originRule } from './http/origin.ts';
import { documents } from './http/routes/documents.ts';
import {
  appRoutes,
  backupRoutes,
  deviceRoutes,
  eventRoutes,
  hardwareRoutes,
  proofRoutes,
  systemRoutes,
  tokenRoutes,
  userRoutes,
} from './http/routes/operations.ts';
import { buildServer } from './http/server.ts';
import { websocketPlugin } from './http/websocket.ts';
import { refuseWrongMethods } from './http/wrong-methods.ts';
import type { Logger } from './logger.ts';
import { Hub } from './notifications/hub.ts';
import { now, openRegistry, type Registry, ShutdownStack, type Start, useSigningKeys } from './registry.ts';
import { type AccessJournal, accessOf } from './services/access-journal.ts';
import { Accounts } from './services/accounts.ts';
import { AppService } from './services/apps.ts';
import { AuthService } from './services/auth.ts';
import { Authentication } from './services/authentication.ts';
import { BackupService } from './services/backups.ts';
import { DeviceExport } from './services/device-export.ts';
import { DeviceService } from './services/devices.ts';
import { EventService } from './services/events.ts';
import { fileBudget } from './services/file-budget.ts';
import { FIRST_USER } from './services/first-admin.ts';
import { Guessing } from './services/guessing.ts';
import { watchInitialPassword } from './services/initial-password.ts';
import { LastUses } from './services/last-uses.ts';
import { Passwords } from './services/passwords.ts';
import { Challenges } from './services/proofs/challenges.ts';
import { ProofPolicies } from './services/proofs/policies.ts';
import { ProofService } from './services/proofs/proof-service.ts';
import { ProofSweep } from './services/proofs/proof-sweep.ts';
import { systemRoots } from './services/proofs/system-roots.ts';
import { TrustService } from './services/proofs/trust-service.ts';
import { TrustedRoots } from './services/proofs/trusted.ts';
import { Readiness } from './services/readiness.ts';
import { ResponseSweep } from './services/response-sweep.ts';
import { ServiceTokens } from './services/service-tokens.ts';
import { requestLimits } from './services/shared-limiter.ts';
import { statisticsAt } from './services/statistics.ts';
import { TokenService } from './services/token-service.ts';
import { Tokens } from './services/tokens.ts';
import { UserService } from './services/users.ts';
import { assembleStation } from './station.ts';
import type { Store } from './store/store.ts';
import { lockIfNew, openStore } from './store-engine.ts';

/** A daemon that accepts requests. */
export interface RunningDaemon {
  readonly url: string;
  /** The first administrator's password if this start has generated it, else null. */
  readonly initialPassword: string | null;
  /** Reads the signing keys and the certificate again. Never rejects: errors are logged, and the previous ones stay in use. */
  reload(): Promise<void>;
  /** Stops the daemon: serves requests until the time to drain is over, finishes running ones, closes the streams and the store. Idempotent. */
  stop(): Promise<void>;
}

/** Starts a daemon. Rejects with `StartRefused` if it cannot start; then everything that was started is stopped again. */
export async function startDaemon(settings: DaemonSettings, version: string, log: Logger): Promise<RunningDaemon> {
  checkNetwork(settings);
  checkRole(settings);
  const stack = new ShutdownStack();
  try {
    return await start({ settings, version, log, stack, openStore, lockIfNew });
  } catch (error) {
    await stack.unwind(log);
    throw error;
  }
}

async function start(basis: Omit<Start, 'home'>): Promise<RunningDaemon> {
  const { settings, version, log, stack } = basis;
  const home = await Home.open(settings.home, settings.secrets ?? null);
  const lock = await lockHome(home);
  stack.add(() => lock.release());
  const scanned = Promise.withResolvers<void>();
  const assemble = settings.role === 'station' ? assembleStation : assembleRegistry;
  const { app, hub, keys, logins, readiness, firstAdmin, renewKeys } = await assemble(
    { ...basis, home },
    scanned.promise,
  );
  let extra: readonly Server[] = [];
  stack.add(() => closeServer(app, extra, log));
  await hub.ready();
  const initialPassword = await firstAdmin;
  const localToken = await keepLocalToken(home, logins, now, log);
  stack.add(() => localToken.stop());
  const listening = await listen(app, settings, home.path('socket'), log);
  const { url, socket } = listening;
  extra = listening.extra;
  // Loading the native libraries takes longer than the rest of the start: requests need not wait for it.
  void keys.start().finally(scanned.resolve);
  stack.add(() => keys.stop());
  await publish(home, infoOf(settings, { url, socket, version, node: app.node }));
  stack.add(() => home.remove('daemonInfo'));
  log.info({ url, socket, version, home: home.dir }, 'listening');
  const drain = async () => {
    readiness.stopping();
    if (settings.drain) log.info({ seconds: settings.drain }, 'not ready; requests are still served');
    await sleep((settings.drain ?? 0) * 1000);
    await stack.unwind(log);
  };
  let stopping: Promise<void> | undefined;
  const renew = async () => {
    await renewKeys();
    hub.checkTokens();
    await localToken.renew();
  };
  if (settings.store) {
    const watch = new SecretsWatch({ home, renew, warn: (message, err) => log.error({ err }, message) });
    logins.renewWith(() => watch.look());
    stack.add(() => watch.stop());
  }
  const reload = async () => {
    try {
      await renew();
      const tls = await readTls(settings, log);
      if (tls) (app.server as unknown as TlsServer).setSecureContext(tlsOptions(tls));
      log.info('keys and certificate reloaded');
    } catch (error) {
      log.error({ err: error }, 'keys or certificate could not be reloaded; the previous ones stay in use');
    }
  };
  return { url, initialPassword, reload, stop: () => (stopping ??= drain()) };
}

/** The parts of a daemon with a registry. */
async function assembleRegistry(basis: Start, scanned: Promise<void>): Promise<Assembled> {
  const registry = await openRegistry(basis);
  const parts = await createParts(basis, registry);
  const forwarder = await startForwarder(basis, registry.store);
  const { hub, keys, logins, readiness } = parts;
  return {
    app: await createServer(basis, registry, { ...parts, forwarder }, scanned),
    hub,
    keys,
    logins,
    readiness,
    firstAdmin: registry.firstAdmin,
    renewKeys: async () => {
      await useSigningKeys(basis.home, registry.store, logins);
      await registry.rotateJournal();
    },
  };
}

type Parts = Awaited<ReturnType<typeof createParts>> & { readonly forwarder: Forwarder | null };

/** Null if nothing is forwarded: then none of it is loaded. */
async function startForwarder({ settings, log, stack, home }: Start, store: Store): Promise<Forwarder | null> {
  const target = settings.forward;
  if (!target) return null;
  const { Forwarder } = await import('./forwarding/forwarder.ts');
  const forwarder = new Forwarder({ store, home, target, log });
  forwarder.start();
  stack.add(() => forwarder.stop());
  return forwarder;
}

/** In PostgreSQL each look at the store takes the lock of all writes. */
const HEALTH_FRESH_MS = 200;

/** The services, the notifications and the attached keys. */
async function createParts({ settings, log, home, stack }: Start, { store, blobs, access }: Registry) {
  const limiter = requestLimits(store, settings.limits);
  stack.add(() => limiter.stop());
  const guessing = new Guessing({ enabled: settings.limits.login !== null, counters: store.counters });
  stack.add(() => guessing.stop());
  const passwords = new Passwords(store, limiter, guessing, undefined, access);
  if (settings.store)
    stack.add(watchInitialPassword({ home, store, passwords, warn: (message, err) => log.warn({ err }, message) }));
  const logins = new Tokens(await signingKeys(home, now()), new Accounts(store), now, settings.sessionDays);
  const lastUses = new LastUses({ store, now });
  stack.add(() => lastUses.stop());
  const responses = new ResponseSweep({ store, now });
  stack.add(() => responses.stop());
  const hub = new Hub({ store, log });
  const budget = fileBudget(settings.files, blobs, store);
  const readiness = new Readiness({ store, log, freshMs: settings.store ? HEALTH_FRESH_MS : 0 });
  stack.add(readiness.watch());
  const instance = await Instance.open(home);
  const policies = new ProofPolicies(store, now);
  const sweep = new ProofSweep(store, now);
  stack.add(() => sweep.stop());
  return {
    instance,
    policies,
    proofs: new ProofService({
      store,
      challenges: new Challenges(instance.secret('challenges')),
      roots: new TrustedRoots(store),
      registryId: instance.id,
      now,
    }),
    trust: new TrustService({ store, systemRoots, now }),
    keyed: new KeyedRequests({ store, now }),
    limiter,
    logins,
    tokens: new Authentication(logins, new ServiceTokens({ store, lastUses, now })),
    access,
    hub,
    readiness,
    keys: new AttachedKeys({ drivers: createDrivers(settings, log), store, hub, now, log }),
    auth: new AuthService({ store, passwords, guessing, tokens: logins, now, access }),
    devices: new DeviceService({ store, passwords, guessing, policies, now, access }),
    apps: new AppService({ store, blobs, budget, now }),
    backups: new BackupService({ store, blobs, budget, now }),
    serviceTokens: new TokenService({ store, lastUses, now }),
    exports: new DeviceExport(store),
    statistics: () => statisticsAt(store, now()),
    events: new EventService(store),
    users: new UserService({
      store,
      passwords,
      now,
      onPasswordChanged: async user => {
        if (user === FIRST_USER) await home.remove('initialPassword');
      },
    }),
  };
}

async function createServer(
  { settings, version, log }: Start,
  { store }: Registry,
  parts: Parts,
  scanned: Promise<void>,
): Promise<FastifyInstance> {
  const { hub, keys, tokens } = parts;
  const origin = originRule(settings.host, settings.allowHosts);
  const tls = await readTls(settings, log);
  const onForbidden = forbiddenRecorder(parts.access);
  return buildServer({ logger: log, node: settings.node, origin, trustProxy: settings.trustProxy, tls, onForbidden }, [
    app =>
      metricsPlugin(app, {
        ...parts,
        behindProxy: isBehindProxy(settings),
        gauges: () => gauges(store, hub, parts.forwarder),
      }),
    app => userRoutes(app, parts),
    app => tokenRoutes(app, parts),
    app => proofRoutes(app, parts),
    app => deviceRoutes(app, parts),
    app => appRoutes(app, parts),
    app => backupRoutes(app, parts),
    app => eventRoutes(app, parts),
    app => hardwareRoutes(app, { ...parts, keys: afterFirstScan(keys, scanned) }),
    app => documents(app, { version }),
    app => refuseWrongMethods(app, Object.values(routes)),
    app => systemRoutes(app, { ...parts, version, drivers: () => keys.driverStatuses() }),
    websocketPlugin({ hub, tokens, store, origin }),
  ]);
}

/** Counts the operations that a caller was refused for the role. */
const forbiddenRecorder =
  (access: AccessJournal) =>
  ({ caller, id: requestId, ip: address, routeOptions }: FastifyRequest): void => {
    if (!caller) return;
    const detail = { role: caller.role, operation: routeOptions.config.operation?.id ?? 'unknown' };
    access.record({ type: 'OPERATION_REFUSED', ...accessOf({ caller, requestId, address }), detail });
  };

async function gauges(store: Store, hub: Hub, forwarder: Forwarder | null) {
  const { total } = await store.devices({ sortBy: 'createTime', descending: true, offset: 0, limit: 1 });
  return {
    devmgr_devices: { help: 'Devices registered', value: total },
    devmgr_journal_entries: { help: 'Entries of the journal', value: await store.lastEventId() },
    devmgr_streams: { help: 'Notification streams open', value: hub.size },
    ...(forwarder && {
      devmgr_audit_forward_lag_entries: { help: 'Journal entries not forwarded yet', value: await forwarder.lag() },
    }),
    devmgr_resident_bytes: { help: 'Resident memory of the daemon', value: process.memoryUsage.rss() },
  };
}

function infoOf(
  { role, store, objectStore, drain = 0 }: DaemonSettings,
  listening: Pick<DaemonInfo, 'url' | 'socket' | 'version' | 'node'>,
): DaemonInfo {
  return {
    pid: process.pid,
    ...listening,
    startedAt: new Date(now()).toISOString(),
    role,
    // A URL with a password is refused, so it shows none.
    store: store?.url ?? null,
    files: objectStore ? `s3://${objectStore.bucket}/${objectStore.prefix}` : null,
    drainSeconds: drain,
  };
}

/** Writes where the daemon is, for the command line of the same user. */
async function publish(home: Home, info: DaemonInfo): Promise<void> {
  await home.writeSecret('daemonInfo', `${JSON.stringify(info)}\n`);
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { routes } from '../src/contract/routes.ts';
import type { Assembled } from './assembled.ts';
import type { Forwarder } from './delivery/forwarding/forwarder.ts';
import { AllowedTargets } from './delivery/webhooks/allowed.ts';
import { WebhookDeliveries } from './delivery/webhooks/deliveries.ts';
import { Poster } from './delivery/webhooks/poster.ts';
import { AttachedKeys } from './hardware/attached-keys.ts';
import { createDrivers } from './hardware/drivers.ts';
import { afterFirstScan } from './hardware/first-scan.ts';
import { Instance } from './home/instance.ts';
import { isBehindProxy } from './home/settings.ts';
import { signingKeys } from './home/signing-keys.ts';
import { uploadQuota } from './http/connections.ts';
import { KeyedRequests } from './http/idempotency.ts';
import { readTls } from './http/listener.ts';
import { metricsPlugin } from './http/metrics.ts';
import { originRule } from './http/origin.ts';
import { relyingPartyOf } from './http/relying-party.ts';
import { consoleRoutes } from './http/routes/console.ts';
import { documents } from './http/routes/documents.ts';
import {
  appRoutes,
  backupRoutes,
  deviceRoutes,
  eventRoutes,
  hardwareRoutes,
  proofRoutes,
  signInCodeRoutes,
  systemRoutes,
  tokenRoutes,
  userRoutes,
  webhookRoutes,
} from './http/routes/operations.ts';
import { signInRoutes, terminalLoginRoutes } from './http/routes/sign-in.ts';
import { buildServer } from './http/server.ts';
import { websocketPlugin } from './http/websocket.ts';
import { refuseWrongMethods } from './http/wrong-methods.ts';
import { Hub } from './notifications/hub.ts';
import { now, openRegistry, type Registry, type Start, useSigningKeys } from './registry.ts';
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
import { Quota } from './services/quota.ts';
import { Readiness } from './services/readiness.ts';
import { ResponseSweep } from './services/response-sweep.ts';
import { ServiceTokens } from './services/service-tokens.ts';
import { StepUpRule } from './services/session.ts';
import { requestLimits } from './services/shared-limiter.ts';
import { AnsweredChallenges } from './services/sign-in/answered-challenges.ts';
import { KeySignIn } from './services/sign-in/key-sign-in.ts';
import { PasskeyService } from './services/sign-in/passkeys.ts';
import { SignInPolicies } from './services/sign-in/sign-in-policies.ts';
import { SignedChallenges } from './services/sign-in/signed-challenges.ts';
import { TerminalLogins } from './services/sign-in/terminal-logins.ts';
import { SignInCodes } from './services/sign-in-codes.ts';
import { statisticsAt } from './services/statistics.ts';
import { TokenService } from './services/token-service.ts';
import { Tokens } from './services/tokens.ts';
import { UserService } from './services/users.ts';
import { WebhookService } from './services/webhooks.ts';
import type { Store } from './store/store.ts';

/** The parts of a daemon with a registry, connected. `scanned` resolves after the first search for attached keys. */
export async function assembleRegistry(basis: Start, scanned: Promise<void>): Promise<Assembled> {
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
    renewKeys: async takeNext => {
      await useSigningKeys(basis.home, registry.store, logins);
      await registry.rotateJournal(takeNext);
    },
  };
}

type Parts = Awaited<ReturnType<typeof createParts>> & { readonly forwarder: Forwarder | null };

/** Null if nothing is forwarded: then none of it is loaded. */
async function startForwarder({ settings, log, stack, home }: Start, store: Store): Promise<Forwarder | null> {
  const target = settings.forward;
  if (!target) return null;
  const { Forwarder } = await import('./delivery/forwarding/forwarder.ts');
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
  const passwords = new Passwords(store, limiter, guessing, settings.passwordCost, access);
  if (settings.store)
    stack.add(watchInitialPassword({ home, store, passwords, warn: (message, err) => log.warn({ err }, message) }));
  const logins = new Tokens(await signingKeys(home, now()), new Accounts(store), now, settings.sessionDays);
  const lastUses = new LastUses({ store, now });
  stack.add(() => lastUses.stop());
  const serviceTokens = new ServiceTokens({ store, lastUses, now });
  const responses = new ResponseSweep({ store, now });
  stack.add(() => responses.stop());
  const hub = new Hub({ store, log });
  const budget = fileBudget(settings.files, blobs, store);
  const readiness = new Readiness({ store, log, freshMs: settings.store ? HEALTH_FRESH_MS : 0 });
  stack.add(readiness.watch());
  const instance = await Instance.open(home);
  const roots = new TrustedRoots(store);
  const policies = new ProofPolicies({ store, roots, now });
  const answered = new AnsweredChallenges({ counters: store.counters });
  const challenges = new SignedChallenges(instance.secret('security keys'), answered);
  const signInPolicies = new SignInPolicies({ store, now });
  const keySignIn = new KeySignIn({ store, challenges, tokens: logins, guessing, now, access });
  const sweep = new ProofSweep(store, now);
  stack.add(() => sweep.stop());
  return {
    instance,
    policies,
    proofs: new ProofService({
      store,
      challenges: new Challenges(instance.secret('challenges')),
      roots,
      policies,
      registryId: instance.id,
      now,
    }),
    trust: new TrustService({ store, systemRoots, now }),
    keyed: new KeyedRequests({ store, now }),
    limiter,
    logins,
    tokens: new Authentication(logins, serviceTokens),
    signInCodes: new SignInCodes({ store, tokens: logins, serviceTokens, policies: signInPolicies, now, access }),
    access,
    hub,
    readiness,
    keys: new AttachedKeys({ drivers: createDrivers(settings, log), store, hub, now, log }),
    auth: new AuthService({
      store,
      passwords,
      guessing,
      tokens: logins,
      policies: signInPolicies,
      keys: keySignIn,
      now,
      access,
    }),
    keySignIn,
    signInPolicies,
    passkeys: new PasskeyService({ store, challenges, policies: signInPolicies, now }),
    terminalLogins: new TerminalLogins({ store, challenges, tokens: logins, policies: signInPolicies, now, access }),
    stepUp: new StepUpRule(settings.stepUp ?? 'console', now),
    devices: new DeviceService({ store, passwords, guessing, policies, now, access }),
    apps: new AppService({ store, blobs, budget, now }),
    backups: new BackupService({ store, blobs, budget, now }),
    serviceTokens: new TokenService({ store, lastUses, now }),
    exports: new DeviceExport(store),
    uploads: new Quota(uploadQuota()),
    webhooks: startWebhooks({ settings, log, stack }, store, instance),
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

/** Delivers to the webhooks from now on. */
function startWebhooks(
  { settings, log, stack }: Pick<Start, 'settings' | 'log' | 'stack'>,
  store: Store,
  instance: Instance,
) {
  const allowed = new AllowedTargets(settings.webhookAllow ?? []);
  const sealingKey = instance.secret('webhooks');
  const poster = new Poster({ allowed, sealingKey, now });
  const deliveries = new WebhookDeliveries({ store, poster, registryId: instance.id, log, now });
  deliveries.start();
  stack.add(() => deliveries.stop());
  return new WebhookService({ store, allowed, poster, sealingKey, changed: () => deliveries.changed(), now });
}

async function createServer(
  { settings, version, log }: Start,
  { store }: Registry,
  parts: Parts,
  scanned: Promise<void>,
): Promise<FastifyInstance> {
  const { hub, keys, tokens, signInCodes } = parts;
  const origin = originRule(settings.host, settings.allowHosts);
  const { publicUrl } = settings;
  const tls = await readTls(settings, log);
  const onForbidden = forbiddenRecorder(parts.access);
  return buildServer({ logger: log, node: settings.node, origin, trustProxy: settings.trustProxy, tls, onForbidden }, [
    app =>
      metricsPlugin(app, {
        ...parts,
        behindProxy: isBehindProxy(settings),
        gauges: () => gauges(store, hub, parts),
      }),
    app => signInRoutes(app, { ...parts, siteOf: request => relyingPartyOf(request, { origin, publicUrl }) }),
    app => terminalLoginRoutes(app, parts),
    app => userRoutes(app, parts),
    app => signInCodeRoutes(app, parts),
    app => tokenRoutes(app, parts),
    app => proofRoutes(app, parts),
    app => webhookRoutes(app, parts),
    app => deviceRoutes(app, parts),
    app => appRoutes(app, parts),
    app => backupRoutes(app, parts),
    app => eventRoutes(app, parts),
    app => hardwareRoutes(app, { ...parts, keys: afterFirstScan(keys, scanned) }),
    app => documents(app, { version, console: settings.console !== false }),
    ...(settings.console === false ? [] : [consoleRoutes]),
    app => refuseWrongMethods(app, Object.values(routes)),
    app => systemRoutes(app, { ...parts, version, drivers: () => keys.driverStatuses() }),
    websocketPlugin({ hub, tokens, codes: signInCodes, store, origin }),
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

async function gauges(store: Store, hub: Hub, { forwarder, webhooks }: Pick<Parts, 'forwarder' | 'webhooks'>) {
  const failing = await webhooks.failing();
  const { total } = await store.devices({ sortBy: 'createTime', descending: true, offset: 0, limit: 1 });
  return {
    devmgr_devices: { help: 'Devices registered', value: total },
    devmgr_journal_entries: { help: 'Entries of the journal', value: await store.lastEventId() },
    devmgr_streams: { help: 'Notification streams open', value: hub.size },
    ...(forwarder && {
      devmgr_audit_forward_lag_entries: { help: 'Journal entries not forwarded yet', value: await forwarder.lag() },
    }),
    ...(failing !== null && {
      devmgr_webhooks_failing: { help: 'Webhooks that are tried again or were disabled for failures', value: failing },
    }),
    devmgr_resident_bytes: { help: 'Resident memory of the daemon', value: process.memoryUsage.rss() },
  };
}

/** A daemon with a registry. */
import type { FastifyRequest } from 'fastify';
import { routes } from '../src/contract/routes.ts';
import { accountOperations } from './accounts/routes.ts';
import { accountServices, createChecks } from './composition/accounts.ts';
import { deviceServices } from './composition/devices.ts';
import { createServer } from './composition/server.ts';
import type { Forwarder } from './delivery/forwarding/forwarder.ts';
import { deviceOperations } from './devices/routes.ts';
import { directoryOperations } from './directory/routes.ts';
import { fileOperations } from './files/routes.ts';
import { AttachedKeys } from './hardware/attached-keys.ts';
import { createDrivers } from './hardware/drivers.ts';
import { stationOperations } from './hardware/routes.ts';
import { Instance } from './home/instance.ts';
import { uploadQuota } from './http/connections.ts';
import { KeyedRequests } from './http/idempotency.ts';
import { originRule } from './http/origin.ts';
import { refuseWrongMethods } from './http/wrong-methods.ts';
import { issuingOperations } from './issuing/routes.ts';
import { Hub } from './notifications/hub.ts';
import { eventOperations } from './notifications/routes.ts';
import { peopleOperations } from './people/routes.ts';
import { proofOperations } from './proofs/routes.ts';
import { receiptOperations } from './receipts/routes.ts';
import { type AssembledDaemon, now, openRegistry, type Start, useSigningKeys } from './registry.ts';
import { type AccessJournal, accessOf } from './services/access-journal.ts';
import type { DirectorySettingsService } from './services/directory/settings.ts';
import type { ProviderService } from './services/issuing/provider-service.ts';
import type { PeopleService } from './services/people/people-service.ts';
import type { RefusedRequests } from './services/people/refused.ts';
import { Quota } from './services/quota.ts';
import { Readiness } from './services/readiness.ts';
import { responseSweep } from './services/sweep.ts';
import type { WebhookService } from './services/webhooks.ts';
import { signInOperations } from './sign-in/routes.ts';
import { ssoOperations } from './single-sign-on/routes.ts';
import type { Store } from './store/store.ts';
import { webhookOperations } from './webhooks/routes.ts';

/** In PostgreSQL each look at the store takes the lock of all writes. */
const HEALTH_FRESH_MS = 200;

/** Creates the parts of the daemon and connects them. */
export async function assembleRegistry(start: Start): Promise<AssembledDaemon> {
  const { settings, version, log, home, stack } = start;
  const registry = await openRegistry(start);
  const { store, access, firstAdmin } = registry;
  const checks = await createChecks(start, registry);
  const responses = responseSweep({ store, now });
  stack.add(() => responses.stop());
  const hub = new Hub({ store, log });
  const readiness = new Readiness({ store, log, freshMs: settings.store ? HEALTH_FRESH_MS : 0 });
  stack.add(readiness.watch());
  const instance = await Instance.open(home);
  const origin = originRule(settings.host, settings.allowHost);
  const keys = new AttachedKeys({ drivers: createDrivers(settings, log), store, hub, now, log });
  const accounts = accountServices(start, registry, checks, instance, origin);
  const services = { ...accounts, ...deviceServices(start, registry, checks, accounts, instance) };
  const { limiter, logins, tokens } = checks;
  const { remoteIssuing } = settings;
  const serving = { ...services, keys, readiness, version, instance, limiter, access, remoteIssuing };
  const { signInCodes, stepUp, scim } = services;
  const forwarder = await startForwarder(start, store);
  const app = await createServer(start, {
    tokens,
    limiter,
    stepUp,
    signInCodes,
    scim,
    origin,
    hub,
    store,
    keyed: new KeyedRequests({ store, now }),
    uploads: new Quota(uploadQuota()),
    operations: {
      ...stationOperations(serving),
      ...signInOperations(serving),
      ...ssoOperations(serving),
      ...accountOperations(serving),
      ...peopleOperations(serving),
      ...directoryOperations(serving),
      ...issuingOperations(serving),
      ...deviceOperations(serving),
      ...fileOperations(serving),
      ...proofOperations(serving),
      ...receiptOperations(serving),
      ...webhookOperations(serving),
      ...eventOperations(serving),
    },
    console: settings.console,
    gauges: () => gauges({ ...services, store, forwarder }),
    onForbidden: forbiddenRecorder(access),
    refuseOthers: app => refuseWrongMethods(app, Object.values(routes)),
  });
  const renewKeys = async (takeNext: boolean) => {
    await useSigningKeys(home, store, logins);
    await registry.rotateJournal(takeNext);
  };
  return { app, hub, keys, logins, readiness, firstAdmin, renewKeys };
}

/** Null if nothing is forwarded: then none of it is loaded. */
async function startForwarder({ settings, log, stack, home }: Start, store: Store): Promise<Forwarder | null> {
  const target = settings.forward;
  if (!target) return null;
  const { Forwarder } = await import('./delivery/forwarding/forwarder.ts');
  const forwarder = new Forwarder({ store, home, target, log });
  stack.start(forwarder);
  return forwarder;
}

/** Counts the operations that a caller was refused for the role. */
const forbiddenRecorder =
  (access: AccessJournal) =>
  ({ caller, id: requestId, ip: address, routeOptions }: FastifyRequest): void => {
    if (!caller) return;
    const detail = { role: caller.role, operation: routeOptions.config.operation?.id ?? 'unknown' };
    access.record({ type: 'OPERATION_REFUSED', ...accessOf({ caller, requestId, address }), detail });
  };

interface MetricSources {
  readonly store: Store;
  readonly forwarder: Forwarder | null;
  readonly webhooks: WebhookService;
  readonly people: PeopleService;
  readonly refused: RefusedRequests;
  readonly directorySettings: DirectorySettingsService;
  readonly providers: ProviderService;
}

async function gauges({ store, forwarder, webhooks, people, refused, directorySettings, providers }: MetricSources) {
  const [failing, directoryFailing, toRemove] = await Promise.all([
    webhooks.failing(),
    directorySettings.failing(),
    providers.pending(),
  ]);
  const left = await people.leftovers();
  const { total } = await store.devices({ sortBy: 'createTime', descending: true, offset: 0, limit: 1 });
  return {
    devmgr_devices: { help: 'Devices registered', value: total },
    ...(store.sharedWork && {
      devmgr_daemons: { help: 'Daemons that use the registry', value: await store.sharedWork.users() },
    }),
    devmgr_journal_entries: { help: 'Entries of the journal', value: await store.lastEventId() },
    devmgr_leavers_held: {
      help: 'Persons whose devices or new user name wait for a release',
      value: await people.heldCount(),
    },
    devmgr_leavers_active_devices: { help: 'ACTIVE devices of persons who have left', value: left.activeDevices },
    devmgr_leavers_tokens: {
      help: 'Service tokens, neither revoked nor expired, whose owner has left or is disabled',
      value: left.tokens,
    },
    devmgr_provisioning_refused: {
      help: 'Provisioning requests of the last day that were not stored as sent, at most 200 of each source',
      value: await refused.recent(),
    },
    ...(forwarder && {
      devmgr_audit_forward_lag_entries: { help: 'Journal entries not forwarded yet', value: await forwarder.lag() },
    }),
    ...(directoryFailing !== null && {
      devmgr_directory_failing: { help: 'Whether the last run of the directory failed', value: directoryFailing },
    }),
    ...(toRemove !== null && {
      devmgr_idp_pending: { help: 'Credentials of keys that providers still have to remove', value: toRemove },
    }),
    ...(failing !== null && {
      devmgr_webhooks_failing: { help: 'Webhooks that are tried again or were disabled for failures', value: failing },
    }),
  };
}

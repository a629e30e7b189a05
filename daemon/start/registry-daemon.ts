/** A daemon with a registry. */
import type { FastifyRequest } from 'fastify';
import { routes } from '../../src/contract/routes.ts';
import { DueWork } from '../background/due-work.ts';
import { responseSweep } from '../background/sweeps.ts';
import { AttachedKeys } from '../hardware/attached-keys.ts';
import { createDrivers } from '../hardware/drivers.ts';
import { stationOperations } from '../hardware/routes.ts';
import { Instance } from '../home/instance.ts';
import { uploadQuota } from '../http/connections.ts';
import { KeyedRequests } from '../http/idempotency.ts';
import { originRule } from '../http/origin.ts';
import type { Offers, StartedSubject } from '../http/subject.ts';
import { refuseWrongMethods } from '../http/wrong-methods.ts';
import { Hub } from '../notifications/hub.ts';
import { type AccessJournal, accessOf } from '../requests/access-journal.ts';
import { Quota } from '../requests/quota.ts';
import { Readiness } from '../requests/readiness.ts';
import type { Store } from '../store/store.ts';
import { type AssembledDaemon, now, openRegistry, type Start, useSigningKeys } from './registry.ts';
import { createServer } from './server.ts';
import { services } from './services.ts';

/** In PostgreSQL each look at the store takes the lock of all writes. */
const HEALTH_FRESH_MS = 200;

/** Creates the parts of the daemon and connects them. */
export async function assembleRegistry(start: Start): Promise<AssembledDaemon> {
  const { settings, version, log, home, stack } = start;
  const registry = await openRegistry(start);
  const { store, access, firstAdmin } = registry;
  stack.start(new DueWork({ store, log }, responseSweep({ store, now })));
  const hub = new Hub({ store, log });
  const readiness = new Readiness({ store, log, freshMs: settings.store ? HEALTH_FRESH_MS : 0 });
  stack.add(readiness.watch());
  const instance = await Instance.open(home);
  const origin = originRule(settings.host, settings.allowHost);
  const keys = new AttachedKeys({ drivers: createDrivers(settings, log), store, hub, now, log });
  const offers = {} as Offers;
  const parts = { ...start, ...registry, instance, now, offers };
  const subjects: StartedSubject[] = [];
  for (const begin of services) subjects.push(await begin(parts));
  const { limiter, logins, tokens, stepUp } = offers.accounts;
  const app = await createServer(start, {
    tokens,
    limiter,
    stepUp,
    signInCodes: offers.signIn.codes,
    subjects,
    origin,
    hub,
    store,
    keyed: new KeyedRequests({ store, now }),
    uploads: new Quota(uploadQuota()),
    operations: stationOperations({
      keys,
      readiness,
      version,
      instance,
      limiter,
      remoteIssuing: settings.remoteIssuing,
    }),
    gauges: () => gauges(store),
    onForbidden: forbiddenRecorder(access),
    refuseOthers: app => refuseWrongMethods(app, Object.values(routes)),
  });
  const renewKeys = async (takeNext: boolean) => {
    await useSigningKeys(home, store, logins);
    await registry.rotateJournal(takeNext);
  };
  return { app, hub, keys, logins, readiness, firstAdmin, renewKeys };
}

/** Counts the operations that a caller was refused for the role. */
const forbiddenRecorder =
  (access: AccessJournal) =>
  ({ caller, id: requestId, ip: address, routeOptions }: FastifyRequest): void => {
    if (!caller) return;
    const detail = { role: caller.role, operation: routeOptions.config.operation?.id ?? 'unknown' };
    access.record({ type: 'OPERATION_REFUSED', ...accessOf({ caller, requestId, address }), detail });
  };

const gauges = async (store: Store) => ({
  ...(store.sharedWork && {
    devmgr_daemons: { help: 'Daemons that use the registry', value: await store.sharedWork.users() },
  }),
  devmgr_journal_entries: { help: 'Entries of the journal', value: await store.lastEventId() },
});

/** A daemon without a registry: it shows the keys of its machine to the programs on it. */
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../src/contract/codes.ts';
import { routes } from '../../src/contract/routes.ts';
import { Accounts } from '../accounts/accounts.ts';
import { signingKeys } from '../accounts/signing-keys.ts';
import { Tokens } from '../accounts/tokens.ts';
import { AttachedKeys } from '../hardware/attached-keys.ts';
import { createDrivers } from '../hardware/drivers.ts';
import { stationOperations } from '../hardware/routes.ts';
import { Instance } from '../home/instance.ts';
import { KeyedRequests } from '../http/idempotency.ts';
import { urlOf } from '../http/operation.ts';
import { originRule } from '../http/origin.ts';
import { Hub } from '../notifications/hub.ts';
import { Limiter } from '../requests/limiter.ts';
import { Readiness } from '../requests/readiness.ts';
import { StoreFailure } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import { type AssembledDaemon, now, type Start } from './registry.ts';
import { createServer } from './server.ts';

/** The parts of a station. Its only tokens are those in its home, so nothing of it can be used from elsewhere. */
export async function assembleStation(start: Start): Promise<AssembledDaemon> {
  const { settings, version, log, home } = start;
  const store = noRegistry;
  const limiter = new Limiter(settings.limits);
  const tokens = new Tokens(await signingKeys(home, now()), new Accounts(store), now, settings.sessionDays);
  const instance = await Instance.open(home);
  const hub = new Hub({ store, log });
  const keys = new AttachedKeys({ drivers: createDrivers(settings, log), store, hub, now, log });
  const readiness = new Readiness({ store, log, freshMs: 0 });
  const app = await createServer(start, {
    tokens,
    limiter,
    hub,
    store,
    keyed: new KeyedRequests({ store, now }),
    origin: originRule(settings.host, settings.allowHost),
    operations: stationOperations({
      keys,
      readiness,
      version,
      instance,
      limiter,
      remoteIssuing: settings.remoteIssuing,
    }),
    gauges: async () => ({}),
    refuseOthers: refuseRegistry,
  });
  const renewKeys = async () => void tokens.useKeys(await signingKeys(home, now()));
  return { app, hub, keys, logins: tokens, readiness, firstAdmin: Promise.resolve(null), renewKeys };
}

/** Refuses what only a daemon with a registry serves. */
function refuseRegistry(app: FastifyInstance): void {
  for (const shape of Object.values(routes)) {
    const route = { method: shape.method, url: urlOf(shape) };
    if (app.hasRoute(route)) continue;
    app.route({
      ...route,
      onRequest: () => {
        throw new ApiError(404, 'this daemon is a station without a registry; name the registry with --server');
      },
      handler: (_request, reply) => reply.callNotFound(),
    });
  }
}

/** The store of a daemon without a registry: it has no records and takes none. */
const noRegistry = {
  user: async () => null,
  response: async () => null,
  device: async () => null,
  devicesBySerial: async () => new Map(),
  events: async () => [],
  lastEventId: async () => 0,
  onCommit: () => () => {},
  behind: () => 0,
  commit: async () => {
    throw new StoreFailure('a station has no registry');
  },
  health: async () => ({ ready: true, detail: 'a station has no registry' }),
} satisfies Partial<Store>;

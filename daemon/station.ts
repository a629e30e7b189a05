/** A daemon without a registry: it shows the keys of its machine to the programs on it. */
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../src/contract/codes.ts';
import type { RouteName } from '../src/contract/endpoints.ts';
import { routes } from '../src/contract/routes.ts';
import type { Assembled } from './assembled.ts';
import { AttachedKeys } from './hardware/attached-keys.ts';
import { createDrivers } from './hardware/drivers.ts';
import { afterFirstScan } from './hardware/first-scan.ts';
import { Instance } from './home/instance.ts';
import { isBehindProxy } from './home/settings.ts';
import { signingKeys } from './home/signing-keys.ts';
import { KeyedRequests } from './http/idempotency.ts';
import { readTls } from './http/listener.ts';
import { metricsPlugin } from './http/metrics.ts';
import { originRule } from './http/origin.ts';
import { documents } from './http/routes/documents.ts';
import { hardwareRoutes, systemRoutes } from './http/routes/operations.ts';
import { buildServer } from './http/server.ts';
import { websocketPlugin } from './http/websocket.ts';
import { Hub } from './notifications/hub.ts';
import { now, type Start } from './registry.ts';
import { Accounts } from './services/accounts.ts';
import { Limiter } from './services/limiter.ts';
import { Readiness } from './services/readiness.ts';
import { Tokens } from './services/tokens.ts';
import { noRegistry } from './store/no-registry.ts';

/** The parts of a station. Its only tokens are those in its home, so nothing of it can be used from elsewhere. */
export async function assembleStation(
  { settings, version, log, home }: Start,
  scanned: Promise<void>,
): Promise<Assembled> {
  const store = noRegistry;
  const limiter = new Limiter(settings.limits);
  const tokens = new Tokens(await signingKeys(home, now()), new Accounts(store), now, settings.sessionDays);
  const instance = await Instance.open(home);
  const hub = new Hub({ store, log });
  const keys = new AttachedKeys({ drivers: createDrivers(settings, log), store, hub, now, log });
  const origin = originRule(settings.host, settings.allowHosts);
  const tls = await readTls(settings, log);
  const readiness = new Readiness({ store, log, freshMs: 0 });
  const parts = { limiter, tokens, instance, readiness, keyed: new KeyedRequests({ store, now }) };
  const app = await buildServer({ logger: log, node: settings.node, origin, trustProxy: settings.trustProxy, tls }, [
    app =>
      metricsPlugin(app, {
        ...parts,
        behindProxy: isBehindProxy(settings),
        gauges: async () => ({
          devmgr_streams: { help: 'Notification streams open', value: hub.size },
          devmgr_resident_bytes: { help: 'Resident memory of the daemon', value: process.memoryUsage.rss() },
        }),
      }),
    app => hardwareRoutes(app, { ...parts, keys: afterFirstScan(keys, scanned) }),
    app => documents(app, { version, console: false }),
    app => systemRoutes(app, { ...parts, version, drivers: () => keys.driverStatuses() }),
    app => refuseRegistry(app),
    websocketPlugin({ hub, tokens, store, origin }),
  ]);
  return {
    app,
    hub,
    keys,
    logins: tokens,
    readiness,
    firstAdmin: Promise.resolve(null),
    renewKeys: async () => {
      tokens.useKeys(await signingKeys(home, now()));
    },
  };
}

/** What a station answers like any daemon. */
const served: readonly RouteName[] = [
  'listKeys',
  'proveKey',
  'streamNotifications',
  'getHealth',
  'getSwaggerPage',
  'getOpenapiJson',
  'getOpenapiYaml',
  'getPostmanCollection',
  'getMetrics',
];

function refuseRegistry(app: FastifyInstance): void {
  for (const [name, { method, path }] of Object.entries(routes)) {
    if (served.includes(name as RouteName)) continue;
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      onRequest: () => {
        throw new ApiError(404, 'this daemon is a station without a registry; name the registry with --server');
      },
      handler: (_request, reply) => reply.callNotFound(),
    });
  }
}

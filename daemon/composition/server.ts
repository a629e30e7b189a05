/** The server of a daemon, whatever its role. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isBehindProxy } from '../home/settings.ts';
import { type Bindings, bindOperations } from '../http/bindings.ts';
import type { FormParts } from '../http/form-operation.ts';
import { readTls } from '../http/listener.ts';
import { metricsPlugin } from '../http/metrics.ts';
import type { OriginRule } from '../http/origin.ts';
import { consoleRoutes } from '../http/routes/console.ts';
import { documents } from '../http/routes/documents.ts';
import { type ScimServices, scimRoutes } from '../http/routes/scim.ts';
import { scimErrors } from '../http/scim-error.ts';
import { buildServer } from '../http/server.ts';
import { acceptLogoutForms } from '../http/sso.ts';
import { websocketPlugin } from '../http/websocket.ts';
import type { Hub } from '../notifications/hub.ts';
import type { Start } from '../registry.ts';
import type { SignInCodes } from '../services/sign-in-codes.ts';
import type { Reader } from '../store/store.ts';

type Gauges = Readonly<Record<string, { readonly help: string; readonly value: number }>>;

/** What a daemon serves, and what it checks requests with. */
interface ServerParts extends FormParts {
  readonly origin: OriginRule;
  readonly operations: Bindings;
  readonly hub: Hub;
  readonly store: Pick<Reader, 'device'>;
  /** Codes that open a stream. Absent without a registry. */
  readonly signInCodes?: SignInCodes;
  /** Absent without a registry. */
  readonly scim?: ScimServices;
  readonly console: boolean;
  /** Figures of the metrics beside those that every daemon has. */
  readonly gauges: () => Promise<Gauges>;
  /** Called for each request that its caller may not make (2007). */
  readonly onForbidden?: (request: FastifyRequest) => void;
  /** Adds the routes of what is not served. */
  readonly refuseOthers: (app: FastifyInstance) => void;
}

/** Builds the server. The caller makes it listen. */
export async function createServer({ settings, version, log }: Start, parts: ServerParts): Promise<FastifyInstance> {
  const { origin, hub, store, tokens, signInCodes, scim, onForbidden } = parts;
  const { node, trustProxy } = settings;
  const options = { logger: log, node, origin, trustProxy, errorForms: [scimErrors] };
  const tls = await readTls(settings, log);
  return buildServer({ ...options, tls, ...(onForbidden && { onForbidden }) }, [
    app =>
      metricsPlugin(app, {
        ...parts,
        behindProxy: isBehindProxy(settings),
        gauges: async () => ({
          ...(await parts.gauges()),
          devmgr_streams: { help: 'Notification streams open', value: hub.size },
          devmgr_resident_bytes: { help: 'Resident memory of the daemon', value: process.memoryUsage.rss() },
        }),
      }),
    acceptLogoutForms,
    app => bindOperations(app, parts, parts.operations),
    app => documents(app, { version, console: parts.console, limiter: parts.limiter }),
    ...(parts.console ? [consoleRoutes] : []),
    ...(scim ? [(app: FastifyInstance) => scimRoutes(app, { tokens, scim })] : []),
    websocketPlugin({ hub, tokens, store, origin, ...(signInCodes && { codes: signInCodes }) }),
    parts.refuseOthers,
  ]);
}

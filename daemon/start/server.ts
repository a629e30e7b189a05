/** The server of a daemon, whatever its role. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isBehindProxy } from '../home/settings.ts';
import { type Bindings, bindOperations } from '../http/bindings.ts';
import type { FormParts } from '../http/form-operation.ts';
import { readTls } from '../http/listener.ts';
import { metricsPlugin } from '../http/metrics.ts';
import type { OriginRule } from '../http/origin.ts';
import { documents } from '../http/routes/documents.ts';
import { buildServer } from '../http/server.ts';
import type { Gauges, StartedSubject } from '../http/subject.ts';
import type { Hub } from '../notifications/hub.ts';
import { websocketPlugin } from '../notifications/websocket.ts';
import type { SignInCodes } from '../sign-in/codes.ts';
import type { Reader } from '../store/store.ts';
import type { Start } from './registry.ts';

/** Services of a daemon, and the checks of its requests. */
interface ServerParts extends FormParts {
  readonly origin: OriginRule;
  /** Beside those of the subjects. */
  readonly operations: Bindings;
  readonly hub: Hub;
  readonly store: Pick<Reader, 'device'>;
  /** Codes that open a stream. Absent without a registry. */
  readonly signInCodes?: SignInCodes;
  /** The subjects of a registry. */
  readonly subjects?: readonly StartedSubject[];
  /** Figures of the metrics beside those that every daemon has. */
  readonly gauges: () => Promise<Gauges>;
  /** Called for each request that its caller may not make (2007). */
  readonly onForbidden?: (request: FastifyRequest) => void;
  /** Adds the routes of what is not served. */
  readonly refuseOthers: (app: FastifyInstance) => void;
}

/** Builds the server. The caller makes it listen. */
export async function createServer({ settings, version, log }: Start, parts: ServerParts): Promise<FastifyInstance> {
  const { origin, hub, store, tokens, signInCodes, subjects = [], onForbidden } = parts;
  const { node, trustProxy } = settings;
  const options = { logger: log, node, origin, trustProxy, errorForms: subjects.flatMap(({ errors }) => errors ?? []) };
  const tls = await readTls(settings, log);
  return buildServer({ ...options, tls, ...(onForbidden && { onForbidden }) }, [
    app =>
      metricsPlugin(app, {
        ...parts,
        behindProxy: isBehindProxy(settings),
        gauges: async () => ({
          ...(await parts.gauges()),
          ...Object.assign({}, ...(await Promise.all(subjects.map(({ gauges }) => gauges?.())))),
          devmgr_streams: { help: 'Notification streams open', value: hub.size },
          devmgr_resident_bytes: { help: 'Resident memory of the daemon', value: process.memoryUsage.rss() },
        }),
      }),
    ...subjects.flatMap(subject => subject.routes ?? []),
    app =>
      bindOperations(app, parts, Object.assign({}, parts.operations, ...subjects.map(({ operations }) => operations))),
    app => documents(app, { version, console: subjects.length > 0 && settings.console, limiter: parts.limiter }),
    websocketPlugin({ hub, tokens, store, origin, ...(signInCodes && { codes: signInCodes }) }),
    parts.refuseOthers,
  ]);
}

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { ApiError, Code } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { routes } from '../../src/contract/routes.ts';
import { hostNode } from '../home/given-settings.ts';
import { HttpConnections } from './connections.ts';
import { drainAfter } from './drain.ts';
import { type ErrorForm, sendAnyError } from './error-form.ts';
import { KEY_HEADER } from './idempotency.ts';
import { readBody } from './json-body.ts';
import { type ShapeBounds, shapeBounds } from './json-shape.ts';
import { type TlsFiles, tlsOptions } from './listener.ts';
import { LoopWatch } from './loop-watch.ts';
import { checkOrigin, type OriginRule } from './origin.ts';
import { answerUnparseable, answerUnsupported, noSuchOperation } from './responses.ts';
import { RequestTurns } from './turns.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly operation?: RouteShape;
    /** Of its body. */
    readonly bounds?: ShapeBounds;
  }
  interface FastifyRequest {
    /** Gives back the place of a request with a large body; null if it has none. */
    endLarge: (() => void) | null;
  }
  interface FastifyInstance {
    /** The log of the daemon. Fastify's own is off. */
    readonly logger: Logger;
    /** Name of the daemon. */
    readonly node: string;
    /** Measures how long the event loop is held. */
    readonly loopWatch: LoopWatch;
    /** The open connections. */
    readonly connections: HttpConnections;
    /** The order in which requests begin. */
    readonly turns: RequestTurns;
    /** `ip` of a request that Fastify does not see, such as an upgrade: a forwarded address only if a trusted proxy sends it. */
    readonly clientAddress: (request: IncomingMessage) => string;
  }
}

/** How a server is set up. */
interface Options {
  readonly logger: Logger;
  /** Name of the daemon, in every response; that of the host if absent. */
  readonly node?: string | undefined;
  readonly origin: OriginRule;
  /** CIDRs of the proxies whose X-Forwarded-For is used. */
  readonly trustProxy: readonly string[];
  /** Present if the server speaks HTTPS. */
  readonly tls?: TlsFiles | undefined;
  /** Called for each request that its caller may not make (2007). */
  readonly onForbidden?: (request: FastifyRequest) => void;
  /** The forms of errors beside the envelope. */
  readonly errorForms?: readonly ErrorForm[];
  /** Milliseconds within which the header of a request must arrive. */
  readonly headersTimeout?: number;
}

/** How much of a body that is too large is still read, so that its client gets to read the response. */
const tooLarge = { bytes: 256 * 2 ** 20, milliseconds: 60_000 };

const HEADERS_MS = 20_000;
/** A silent connection is closed. An upload that continues to arrive is not. */
const SILENCE_MS = 120_000;
/** Bytes of path and headers that Node accepts by default. */
const MAX_HEADER = 16 * 1024;

/** A year, in seconds: a browser that was here uses HTTPS only. */
const STRICT_TRANSPORT = 'max-age=31536000';

/** Bounds of a body that no operation takes. */
const noOperation = shapeBounds(undefined);

/** Adds routes or hooks to a server. */
type RoutePlugin = (app: FastifyInstance) => void | Promise<void>;

/** Builds a Fastify instance whose errors all have an envelope. The caller makes it listen. */
export async function buildServer(options: Options, plugins: readonly RoutePlugin[]): Promise<FastifyInstance> {
  const nextId = requestIds();
  const node = options.node ?? hostNode();
  const forms = options.errorForms ?? [];
  const app = fastify(fastifyOptions(options, node, nextId)) as unknown as FastifyInstance;
  app.decorate('logger', options.logger);
  app.decorate('node', node);
  watchLoop(app);
  app.decorateRequest('caller', null);
  app.decorateRequest('rawBody', null);
  app.decorateRequest('endLarge', null);
  addHooks(app, options);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (request.headers[KEY_HEADER] !== undefined) request.rawBody = body;
    return readBody(request, body, request.routeOptions.config.bounds ?? noOperation);
  });
  app.setErrorHandler((error, request, reply) => {
    if ((error as FastifyError).code === 'FST_ERR_CTP_BODY_TOO_LARGE') drainAfter(request, reply, tooLarge);
    if (error instanceof ApiError && error.code === Code.noPermission) options.onForbidden?.(request);
    sendAnyError(forms, error, request, reply, request.routeOptions.config.operation?.id === 'login');
  });
  app.setNotFoundHandler((request, reply) => sendAnyError(forms, noSuchOperation(), request, reply));
  app.decorate('turns', new RequestTurns(app.server, isHealth));
  answerUnsupported(app, nextId);
  const isExempt = proxyAddr.compile(['loopback', ...options.trustProxy]);
  app.decorate('connections', new HttpConnections(app.server, address => isExempt(address, 0)));
  const trust = proxyAddr.compile([...options.trustProxy]);
  app.decorate('clientAddress', (request: IncomingMessage) => proxyAddr(request, trust));
  for (const plugin of plugins) await plugin(app);
  return app;
}

function noSchemas(): never {
  throw new Error('src/contract validates requests, not schemas of routes');
}

/** Health is answered at once, however many other requests wait. */
const isHealth = ({ url }: IncomingMessage): boolean => url?.startsWith(routes.getHealth.path) ?? false;

function fastifyOptions(options: Options, node: string, nextId: () => string): FastifyServerOptions<Server> {
  const headersTimeout = options.headersTimeout ?? HEADERS_MS;
  const http = {
    requireHostHeader: false,
    headersTimeout,
    requestTimeout: 0,
    connectionsCheckingInterval: headersTimeout / 4,
  };
  return {
    // Fastify has no logger: it would create one per request, and almost all of them write nothing (measured, 3 µs per request).
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: nextId,
    // Routes have no schemas. Without these two, Fastify loads its compilers of schemas, which the build leaves out.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    trustProxy: options.trustProxy.length ? [...options.trustProxy] : false,
    // As long as Node allows a path to be, so that an id that is too long is refused by its operation.
    routerOptions: { maxParamLength: MAX_HEADER, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false },
    exposeHeadRoutes: true,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      addHeaders(request, reply, { node, tls: options.tls });
      sendAnyError(options.errorForms ?? [], error, request, reply);
    },
    clientErrorHandler(this: FastifyInstance, error, socket) {
      answerUnparseable(this, error, socket, nextId());
    },
    connectionTimeout: SILENCE_MS,
    ...(options.tls ? { https: { ...tlsOptions(options.tls), ...http } } : { http }),
  } as FastifyServerOptions<Server>;
}

/** Also of a path that cannot be decoded, for which no hook runs. */
function addHeaders(
  { id, headers }: FastifyRequest,
  reply: FastifyReply,
  { node, tls }: { readonly node: string; readonly tls: Options['tls'] },
): void {
  reply
    .header('x-request-id', id)
    .header('x-devmgr-node', node)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store');
  if (tls) reply.header('strict-transport-security', STRICT_TRANSPORT);
  // After an upgrade that is not accepted, Node reads no further request from the connection.
  if (headers.upgrade !== undefined) reply.header('connection', 'close');
}

/** Hooks of every request call back instead of returning a promise: measured, 1 µs each. */
function addHooks(app: FastifyInstance, { logger, origin, tls }: Options): void {
  app.addHook('onRequest', (request, reply, done) => {
    app.loopWatch.enter(request.routeOptions.config.operation?.id ?? 'none', request.id);
    addHeaders(request, reply, { node: app.node, tls });
    // Before the body is read: an unknown path is 404 whatever its body.
    if (request.is404) throw noSuchOperation();
    checkOrigin(request.raw, origin);
    done();
  });
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.endLarge?.();
    done();
  });
  if (!logger.isLevelEnabled('debug')) return;
  app.addHook('onResponse', async (request, reply) => {
    const { id: requestId, method, ip } = request;
    // Without the query, which may contain a token.
    const path = request.url.split('?', 1)[0];
    const ms = Math.round(reply.elapsedTime);
    logger.debug({ requestId, method, path, status: reply.statusCode, ip, ms }, 'answered');
  });
}

function watchLoop(app: FastifyInstance): void {
  const loopWatch = new LoopWatch({ log: app.logger });
  app.decorate('loopWatch', loopWatch);
  app.addHook('onListen', done => {
    loopWatch.start();
    done();
  });
  app.addHook('onClose', async () => loopWatch.stop());
}

/** Ids that clients cannot guess and that ascend within one run of the daemon, so that a log is easy to follow. */
function requestIds(): () => string {
  const run = randomBytes(6).toString('base64url');
  let count = 0;
  return () => `${run}-${(++count).toString(36)}`;
}

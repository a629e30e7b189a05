import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import fastify, { type FastifyError, type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify';
import type { Logger } from 'pino';
import sjson from 'secure-json-parse';
import { ApiError } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { answerBrokenRequest, answerOddRequests, sendError } from './answers.ts';
import { boundConnections } from './connections.ts';
import { drainAfter } from './drain.ts';
import { checkShape } from './json-shape.ts';
import type { OperationParts } from './operation.ts';
import { checkOrigin, type OriginRule } from './origin.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly operation?: RouteShape;
  }
  interface FastifyInstance {
    /** The log of the daemon; Fastify's own is off. */
    readonly diary: Logger;
  }
}

export interface ServerOptions {
  readonly logger: Logger;
  readonly origin: OriginRule;
  /** CIDRs of proxies whose X-Forwarded-For is believed. */
  readonly trustProxy: readonly string[];
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Milliseconds in which the header of a request must be there. */
  readonly headersTimeout?: number;
}

/** How much of a body that is too large is still taken, so that its client gets to reading the answer. */
const tooLarge = { bytes: 256 * 2 ** 20, milliseconds: 60_000 };

const noSuchOperation = (): ApiError => new ApiError(404, 'no such operation');

const HEADERS_MS = 20_000;

export type RoutePlugin = (app: FastifyInstance) => void | Promise<void>;

/** A Fastify instance that answers everything in the envelope. It does not listen by itself. */
export async function buildServer(options: ServerOptions, plugins: readonly RoutePlugin[]): Promise<FastifyInstance> {
  const nextId = requestIds();
  const headersTimeout = options.headersTimeout ?? HEADERS_MS;
  const patience = {
    requireHostHeader: false,
    headersTimeout,
    requestTimeout: 0,
    connectionsCheckingInterval: headersTimeout / 4,
  };
  const app = fastify({
    // Fastify has no logger: it would make one for each request, and nearly all stay silent (measured, 3 µs of a request).
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: nextId,
    trustProxy: options.trustProxy.length ? [...options.trustProxy] : false,
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendError(error, request, reply, false);
    },
    clientErrorHandler: (error, socket) => {
      answerBrokenRequest(error, socket, nextId(), options.logger);
    },
    // Silence is cut off; an upload that goes on arriving is not.
    connectionTimeout: 120_000,
    ...(options.tls ? { https: { ...options.tls, ...patience } } : { http: patience }),
  } as FastifyServerOptions<Server>) as unknown as FastifyInstance;

  app.decorate('diary', options.logger);
  app.decorateRequest('caller', null);
  // Hooks that every request goes through call back instead of answering a promise: measured, 1 µs each.
  app.addHook('onRequest', (request, reply, done) => {
    reply
      .header('x-request-id', request.id)
      .header('x-content-type-options', 'nosniff')
      .header('cache-control', 'no-store');
    // After an offer to upgrade that is not taken up, Node reads no further request from the connection.
    if (request.headers.upgrade !== undefined) reply.header('connection', 'close');
    // Before its body is looked at: what is no route is 404 whatever comes with it.
    if (request.is404) throw noSuchOperation();
    checkOrigin(request.headers, options.origin);
    done();
  });
  if (options.logger.isLevelEnabled('debug'))
    app.addHook('onResponse', async (request, reply) => {
      const { id: requestId, method, ip } = request;
      // The path alone: a query may hold a token.
      const path = request.url.split('?', 1)[0];
      const ms = Math.round(reply.elapsedTime);
      options.logger.debug({ requestId, method, path, status: reply.statusCode, ip, ms }, 'answered');
    });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    parseJson(body),
  );
  app.setErrorHandler((error, request, reply) => {
    if ((error as FastifyError).code === 'FST_ERR_CTP_BODY_TOO_LARGE') drainAfter(request, reply, tooLarge);
    sendError(error, request, reply, request.routeOptions.config.operation?.id === 'login');
  });
  app.setNotFoundHandler((request, reply) => sendError(noSuchOperation(), request, reply, false));
  answerOddRequests(app.server, nextId);
  boundConnections(app.server, options.trustProxy);
  for (const plugin of plugins) await plugin(app);
  return app;
}

export type { OperationParts };

/** What secure-json-parse says of `__proto__`. */
const FORBIDDEN = 'Object contains forbidden prototype property';

/** A body that is absent is `{}`. `__proto__` anywhere is refused: nothing of ours has such a field, and a merge could act on it. */
function parseJson(body: Buffer): unknown {
  if (body.length === 0) return {};
  if (!isUtf8(body)) throw new ApiError(1001, 'the body is not UTF-8');
  checkShape(body);
  try {
    return sjson.parse(body.toString('utf8'), undefined, { protoAction: 'error', constructorAction: 'ignore' });
  } catch (error) {
    if ((error as Error).message === FORBIDDEN) throw new ApiError(1001, '__proto__ is refused anywhere in a body');
    throw new ApiError(1001, 'the body is not valid JSON');
  }
}

/** Unguessable for others, ascending within one run: easy to follow in a log. */
function requestIds(): () => string {
  const run = randomBytes(6).toString('base64url');
  let count = 0;
  return () => `${run}-${(++count).toString(36)}`;
}

/** The notification stream over WebSocket: what is refused is answered in the envelope, like everything else. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { routes } from '../../src/contract/routes.ts';
import type { Hub } from '../notifications/hub.ts';
import type { Tokens } from '../services/tokens.ts';
import type { Connections } from './connections.ts';
import type { LoopWatch } from './loop-watch.ts';
import { checkOrigin, type OriginRule } from './origin.ts';
import { endSocket, envelope, errorResponse, rawResponse } from './responses.ts';
import { type Admission, admit, splitUrl } from './stream-admission.ts';
import { type StreamBounds, StreamQuota } from './stream-quota.ts';
import { streamSink } from './stream-sink.ts';

export interface WebsocketParts {
  readonly hub: Hub;
  readonly tokens: Tokens;
  readonly origin: OriginRule;
  /** How many streams may be open; a holder is a user. */
  readonly streams?: StreamBounds;
}

/** Nothing that a client sends means anything; pings and closes are short. */
const MOST_INBOUND = 1024;

const path = routes.notifications.path;

export const websocketPlugin =
  (parts: WebsocketParts) =>
  (app: FastifyInstance): void => {
    const upgrades = new Upgrades(parts, app);
    onlyWebSocketUpgrades(app.server);
    app.server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      void upgrades.take(request, stream, head);
    });
    app.route({
      method: 'GET',
      url: path,
      config: { operation: routes.notifications as RouteShape },
      handler: async request => {
        await admit(request.raw, parts);
        throw new ApiError(1001, 'a WebSocket upgrade is required: the request lacks Connection and Upgrade');
      },
    });
    app.addHook('preClose', () => parts.hub.close());
  };

/** A client that offers another protocol (curl offers h2c) gets an ordinary answer. Where Node cannot tell them apart it gets 404. */
function onlyWebSocketUpgrades(server: Server): void {
  Object.assign(server, {
    shouldUpgradeCallback: (request: IncomingMessage) => request.headers.upgrade?.toLowerCase() === 'websocket',
  });
}

class Upgrades {
  readonly #parts: WebsocketParts;
  readonly #log: Logger;
  readonly #loopWatch: LoopWatch;
  readonly #connections: Connections;
  readonly #quota: StreamQuota;
  readonly #ids = new WeakMap<IncomingMessage, string>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MOST_INBOUND,
  });

  constructor(
    parts: WebsocketParts,
    { logger, loopWatch, connections }: Pick<FastifyInstance, 'logger' | 'loopWatch' | 'connections'>,
  ) {
    this.#parts = parts;
    this.#log = logger;
    this.#loopWatch = loopWatch;
    this.#connections = connections;
    this.#quota = new StreamQuota(parts.streams);
    this.#server.on('wsClientError', (error, _socket, request) => {
      this.#refuse(new ApiError(1001, `the WebSocket handshake is wrong: ${error.message}`), request);
    });
    this.#server.on('headers', (headers, request) => {
      headers.push(`X-Request-Id: ${this.#idOf(request)}`);
      // A stream that breaks before its first event can be taken up where it began.
      headers.push(`X-Stream-Since: ${this.#parts.hub.head}`);
    });
  }

  /** Never rejects. `stream` is the socket itself, unless a body is still to come. */
  async take(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const { socket } = request;
    const broken = () => socket.destroy();
    socket.on('error', broken);
    this.#loopWatch.enter(routes.notifications.id, this.#idOf(request));
    try {
      if (request.method !== 'GET' || splitUrl(request.url)[0] !== path) throw new ApiError(404, 'no such operation');
      checkOrigin(request, this.#parts.origin);
      const admission = await admit(request, this.#parts);
      if (stream !== socket) throw new ApiError(1001, 'the request for a stream has a body');
      if (socket.destroyed) return;
      const free = this.#quota.take(holderOf(admission));
      if (!free) throw new ApiError(429, 'too many streams are open; close some of them first');
      socket.once('close', free);
      this.#connections.keep(socket);
      this.#server.handleUpgrade(request, socket, head, ws => {
        socket.off('error', broken);
        this.#open(ws, socket, admission, this.#idOf(request));
      });
    } catch (error) {
      this.#refuse(error, request);
    }
  }

  /** Answers on the bare socket and ends it. */
  #refuse(error: unknown, request: IncomingMessage): void {
    const { socket } = request;
    const requestId = this.#idOf(request);
    const { code, message, status } = errorResponse(error);
    if (status === 500) this.#log.error({ err: error, requestId }, 'the upgrade failed');
    if (socket.destroyed || !socket.writable) return void socket.destroy();
    const body = request.method === 'HEAD' ? '' : envelope(code, message);
    endSocket(socket, rawResponse(status, body, requestId));
    request.resume();
  }

  #idOf(request: IncomingMessage): string {
    const id = this.#ids.get(request) ?? randomBytes(9).toString('base64url');
    this.#ids.set(request, id);
    return id;
  }

  #open(ws: WebSocket, socket: Socket, { caller, token, wanted, since }: Admission, requestId: string): void {
    const log = this.#log.child({ requestId });
    const connection = this.#parts.hub.subscribe({
      sink: streamSink(ws, socket),
      user: caller.user?.number ?? null,
      expiresAt: caller.expiresAt,
      isTokenValid: () => isValid(this.#parts.tokens, token),
      wanted,
      since,
    });
    socket.on('drain', connection.drained);
    ws.on('pong', connection.ponged);
    ws.on('error', error => log.debug({ reason: error.message }, 'a stream broke'));
    ws.on('close', code => {
      connection.gone();
      log.debug({ code }, 'a stream is over');
    });
    log.debug({ user: caller.user?.username ?? caller.role, since }, 'a stream begins');
  }
}

const holderOf = ({ caller }: Admission): string => (caller.user ? String(caller.user.number) : caller.role);

async function isValid(tokens: Tokens, token: string): Promise<boolean> {
  try {
    await tokens.check(token);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

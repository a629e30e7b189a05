/** The notification stream over WebSocket. A refused upgrade is answered with an envelope, like everything else. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import { ApiError, Code } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { routes } from '../../src/contract/routes.ts';
import { stream as streamBounds } from '../../src/contract/values.ts';
import type { HttpConnections } from '../http/connections.ts';
import type { LoopWatch } from '../http/loop-watch.ts';
import { checkOrigin, type OriginRule } from '../http/origin.ts';
import { endSocket, envelope, errorResponse, noSuchOperation, RETRY_AFTER, rawResponse } from '../http/responses.ts';
import { readAgain } from '../http/turns.ts';
import { holderOf, nameOf } from '../requests/context.ts';
import { Quota, type QuotaBounds } from '../requests/quota.ts';
import type { TokenCheck } from '../requests/token-check.ts';
import type { Reader } from '../store/store.ts';
import type { Hub } from './hub.ts';
import type { FrameSink } from './outbox.ts';
import { type AdmissionParts, admit, refuseHolder, type StreamAdmission, splitUrl } from './stream-admission.ts';

/** Dependencies of the stream. */
interface WebsocketParts {
  readonly hub: Hub;
  readonly tokens: TokenCheck;
  /** Absent without a registry. */
  readonly codes?: NonNullable<AdmissionParts['codes']>;
  readonly store: Pick<Reader, 'device'>;
  readonly origin: OriginRule;
  /** Bounds of open streams per user and in total. */
  readonly streams?: QuotaBounds;
}

/** Streams of a user or service token, and of all. */
export const streamQuota: QuotaBounds = { each: 12_000, all: 30_000 };

/** Bytes of a frame from a client. Its content is ignored; pings and closes are short. */
const MAX_INBOUND = 1024;

const path = routes.streamNotifications.path;

/** Adds the stream to a server. */
export const websocketPlugin =
  (parts: WebsocketParts) =>
  (app: FastifyInstance): void => {
    const upgrades = new Upgrades(parts, app);
    onlyWebSocketUpgrades(app.server);
    app.server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      app.turns.last(request.socket, () => void upgrades.take(request, stream, head), stream);
    });
    app.route({
      method: 'GET',
      url: path,
      config: { operation: routes.streamNotifications as RouteShape },
      handler: async request => {
        await admit(request.raw, request, parts);
        throw new ApiError(
          Code.parameterError,
          'a WebSocket upgrade is required: the request lacks Connection and Upgrade',
        );
      },
    });
    app.addHook('preClose', () => parts.hub.close());
  };

/** A client that offers another protocol (curl offers h2c) gets an ordinary response; 404 if Node cannot distinguish them. */
function onlyWebSocketUpgrades(server: Server): void {
  Object.assign(server, {
    shouldUpgradeCallback: (request: IncomingMessage) => request.headers.upgrade?.toLowerCase() === 'websocket',
  });
}

class Upgrades {
  readonly #parts: WebsocketParts;
  readonly #log: Logger;
  readonly #node: string;
  readonly #loopWatch: LoopWatch;
  readonly #connections: HttpConnections;
  readonly #clientAddress: (request: IncomingMessage) => string;
  readonly #quota: Quota;
  readonly #ids = new WeakMap<IncomingMessage, string>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_INBOUND,
  });

  constructor(
    parts: WebsocketParts,
    app: Pick<FastifyInstance, 'logger' | 'node' | 'loopWatch' | 'connections' | 'clientAddress'>,
  ) {
    this.#parts = parts;
    this.#log = app.logger;
    this.#node = app.node;
    this.#loopWatch = app.loopWatch;
    this.#connections = app.connections;
    this.#clientAddress = app.clientAddress;
    this.#quota = new Quota(parts.streams ?? streamQuota);
    this.#server.on('wsClientError', (error, _socket, request) => {
      this.#refuse(new ApiError(Code.parameterError, `the WebSocket handshake is invalid: ${error.message}`), request);
    });
    this.#server.on('headers', (headers, request) => {
      headers.push(`X-Request-Id: ${this.#idOf(request)}`, `X-Devmgr-Node: ${this.#node}`);
      // A stream that breaks before its first event can be resumed from its start.
      headers.push(`${streamBounds.sinceHeader}: ${this.#parts.hub.head}`);
    });
  }

  /** Handles an upgrade. Never rejects. `stream` is the socket itself unless the request has a body. */
  async take(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const { socket } = request;
    this.#loopWatch.enter(routes.streamNotifications.id, this.#idOf(request));
    try {
      if (request.method !== 'GET' || splitUrl(request.url)[0] !== path) throw noSuchOperation();
      checkOrigin(request, this.#parts.origin);
      const admission = await admit(request, { ip: this.#clientAddress(request) }, this.#parts);
      if (stream !== socket) throw new ApiError(Code.parameterError, 'the request for a stream has a body');
      if (socket.destroyed) return;
      const release = this.#quota.take(holderOf(admission.caller));
      if (!release) throw new ApiError(429, 'too many streams are open; close some of them first');
      socket.once('close', release);
      this.#connections.keep(socket);
      this.#server.handleUpgrade(request, socket, head, ws => {
        this.#open(ws, socket, admission, this.#idOf(request));
        readAgain(socket);
      });
    } catch (error) {
      this.#refuse(error, request);
    }
  }

  /** Sends the error on the socket and closes it. */
  #refuse(error: unknown, request: IncomingMessage): void {
    const { socket } = request;
    const requestId = this.#idOf(request);
    const { code, message, status, data, details } = errorResponse(error);
    if (status === 500) this.#log.error({ err: error, requestId }, 'the upgrade failed');
    if (socket.destroyed || !socket.writable) return void socket.destroy();
    const again = status === 503 ? { 'Retry-After': String(RETRY_AFTER) } : {};
    const body = request.method === 'HEAD' ? '' : envelope(code, message, data, details);
    endSocket(socket, rawResponse(status, body, { id: requestId, node: this.#node }, again));
    request.resume();
  }

  #idOf(request: IncomingMessage): string {
    const id = this.#ids.get(request) ?? randomBytes(9).toString('base64url');
    this.#ids.set(request, id);
    return id;
  }

  #open(ws: WebSocket, socket: Socket, admission: StreamAdmission, requestId: string): void {
    const { caller, check, wanted, device, since } = admission;
    const log = this.#log.child({ requestId });
    let { role } = caller;
    const recheck = async () => {
      ({ role } = await check());
      refuseHolder(role);
    };
    const subscription = this.#parts.hub.subscribe({
      sink: streamSink(ws, socket),
      holder: holderOf(caller),
      expiresAt: caller.expiresAt,
      isTokenValid: () => isValid(recheck),
      endsElsewhere: caller.session?.sso !== undefined,
      hasOwner: caller.serviceToken !== null,
      isAdmin: () => role === 'ADMIN',
      wanted,
      device,
      since,
    });
    socket.on('drain', subscription.drained);
    ws.on('pong', subscription.ponged);
    ws.on('error', error => log.debug({ reason: error.message }, 'a stream failed'));
    ws.on('close', code => {
      subscription.gone();
      log.debug({ code }, 'a stream was closed');
    });
    log.debug({ user: nameOf(caller) ?? caller.role, since }, 'a stream was opened');
  }
}

async function isValid(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/**
 * A WebSocket as the stream writes to it. Frames go to the socket as they are, because all connections share them. Measured
 * processor time: one event to 10,000 sockets 84 ms, with `ws.send` 99 ms; a block of 100 events to 1,000 sockets 12 ms, with
 * `ws.send` 82 ms. `ws` itself writes only whole frames (nothing is compressed), so its pings cannot end up inside a block.
 */
function streamSink(ws: WebSocket, socket: Socket): FrameSink {
  return {
    write(frames) {
      if (ws.readyState === ws.OPEN) socket.write(frames);
    },
    get full() {
      return ws.readyState !== ws.OPEN || socket.writableNeedDrain;
    },
    get waiting() {
      return socket.writableLength;
    },
    get taken() {
      return socket.bytesWritten - socket.writableLength;
    },
    ping: () => ws.ping(),
    close: (code, reason) => ws.close(code, reason),
    terminate: () => ws.terminate(),
  };
}

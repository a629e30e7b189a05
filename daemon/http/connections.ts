/** Bounds on what clients can hold open: connections, and the time in which a JSON body must arrive. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { ApiError } from '../../src/contract/codes.ts';
import { clientOf, isLoopbackName } from '../loopback.ts';
import { sendError } from './responses.ts';

/** Milliseconds in which a JSON body must be there. */
const BODY_MS = 60_000;

export interface ConnectionBounds {
  /** Of one address. This machine and trusted proxies stand for many clients and have no bound of their own. */
  readonly each: number;
  /** Of all together. */
  readonly all: number;
}

/** Descriptors that are never a connection's: the database, the hardware, the log. */
const RESERVED = 64;
/** Descriptors left for files that are uploaded and served, at most; if there are few, a quarter of them. */
const FOR_FILES = 2048;

/** Bounds for a process that may have so many files open. */
export function connectionBounds(descriptors: number = mostDescriptors()): ConnectionBounds {
  const left = descriptors - RESERVED;
  const all = Math.max(16, left - Math.min(Math.ceil(left / 4), FOR_FILES));
  return { each: Math.min(1000, Math.ceil(all / 4)), all };
}

/** How many files this process may have open; infinite if the system does not say: only Linux does. */
function mostDescriptors(): number {
  try {
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return found ? Number(found[1]) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

interface Open {
  readonly socket: Socket;
  /** The answer that it was last used for; null before the first request. */
  response: ServerResponse | null;
}

const isIdle = ({ response }: Open): boolean => response === null || response.writableFinished || response.destroyed;

/**
 * The connections of a server. For each that comes beyond a bound the oldest idle one is closed, of the same address or of
 * all. If none is idle, the new one is closed before anything is read from it.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #trusted: readonly string[];
  readonly #isExempt: typeof isExempt;
  readonly #byClient = new Map<string, Set<Open>>();
  /** Connections that may be closed while they are idle, the oldest first. */
  readonly #closable = new Map<Socket, Open>();
  /** By the socket of a request, which with TLS is another object than the connection. */
  readonly #opens = new WeakMap<Socket, Open>();
  #count = 0;

  constructor(server: Server, trusted: readonly string[], bounds = connectionBounds(), exempt = isExempt) {
    this.#bounds = bounds;
    this.#trusted = trusted;
    this.#isExempt = exempt;
    const byPeer = new Map<string, Open>();
    server.on('connection', (socket: Socket) => {
      const open = this.#accept(socket);
      if (!open) return;
      const peer = peerOf(socket);
      byPeer.set(peer, open);
      socket.once('close', () => byPeer.delete(peer));
    });
    server.on('secureConnection', (socket: Socket) => {
      const open = byPeer.get(peerOf(socket));
      if (open) this.#opens.set(socket, open);
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const open = this.#opens.get(socket);
      if (open) open.response = response;
    });
  }

  /** The connection has become a stream, which is never idle. */
  keep(socket: Socket): void {
    const open = this.#opens.get(socket);
    if (open) this.#closable.delete(open.socket);
  }

  #accept(socket: Socket): Open | null {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return null;
    const client = this.#isExempt(remoteAddress, this.#trusted) ? null : clientOf(remoteAddress);
    if (!this.#hasRoom(client)) {
      socket.destroy();
      return null;
    }
    const open: Open = { socket, response: null };
    this.#count++;
    this.#closable.set(socket, open);
    this.#opens.set(socket, open);
    if (client !== null) this.#byClient.set(client, (this.#byClient.get(client) ?? new Set()).add(open));
    socket.once('close', () => this.#release(open, client));
    return open;
  }

  #hasRoom(client: string | null): boolean {
    const ofClient = client === null ? null : this.#byClient.get(client);
    if (ofClient && ofClient.size >= this.#bounds.each) return this.#closeOldestIdle(ofClient);
    return this.#count < this.#bounds.all || this.#closeOldestIdle(this.#closable.values());
  }

  #closeOldestIdle(opens: Iterable<Open>): boolean {
    for (const open of opens) {
      if (!this.#closable.has(open.socket) || !isIdle(open)) continue;
      this.#closable.delete(open.socket);
      open.socket.destroy();
      return true;
    }
    return false;
  }

  #release(open: Open, client: string | null): void {
    this.#count--;
    this.#closable.delete(open.socket);
    if (client === null) return;
    const left = this.#byClient.get(client);
    left?.delete(open);
    if (left?.size === 0) this.#byClient.delete(client);
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

function isExempt(address: string, trusted: readonly string[]): boolean {
  const plain = address.replace(/^::ffff:/, '');
  if (isLoopbackName(plain)) return true;
  if (trusted.length === 0) return false;
  const parsed = ipaddr.parse(plain);
  return trusted.some(range => {
    const [network, bits] = range.includes('/') ? ipaddr.parseCIDR(range) : [ipaddr.parse(range), null];
    if (network.kind() !== parsed.kind()) return false;
    return bits === null ? network.toString() === parsed.toString() : parsed.match([network, bits] as never);
  });
}

interface Begun {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly milliseconds: number;
}
let begun: Begun[] = [];

/**
 * A body that trickles in byte by byte is answered and cut off. Nearly all come with their header, so that only those that
 * are not there at the end of this turn of the event loop get a timer (measured, 2 µs of a request).
 */
export function boundBody(request: FastifyRequest, reply: FastifyReply, milliseconds = BODY_MS): void {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && !Number(headers['content-length'])) return;
  if (begun.push({ request, reply, milliseconds }) === 1) setImmediate(boundMissing);
}

function boundMissing(): void {
  const all = begun;
  begun = [];
  for (const { request, reply, milliseconds } of all)
    if (!request.raw.complete && !request.raw.destroyed) boundRest(request, reply, milliseconds);
}

function boundRest(request: FastifyRequest, reply: FastifyReply, milliseconds: number): void {
  const timer = setTimeout(() => {
    reply.header('connection', 'close');
    sendError(new ApiError(1001, 'the body did not arrive in time'), request, reply, false);
    reply.raw.once('finish', () => request.raw.destroy());
  }, milliseconds);
  const clear = () => clearTimeout(timer);
  request.raw.once('end', clear);
  request.raw.once('close', clear);
}

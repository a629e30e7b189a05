/** Bounds on what clients can hold open: connections, and the time within which a JSON body must arrive. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { uploadBounds } from '../../src/contract/limits.ts';
import { clientOf } from '../base/loopback.ts';
import type { QuotaBounds } from '../requests/quota.ts';
import { sendError } from './responses.ts';

/** Milliseconds within which a JSON body must arrive. */
const BODY_MS = 60_000;

/** How many connections may be open. */
interface ConnectionBounds {
  /** Of one address. This machine and trusted proxies have no bound of their own, because they serve many clients. */
  readonly each: number;
  /** Of all together. */
  readonly all: number;
}

/** File descriptors of the database, the hardware and the log. */
const RESERVED = 64;
/** File descriptors for uploads and downloads: at most this many, and at most a quarter of what is left. */
const FOR_FILES = 2048;

/** The bounds of a process with this many file descriptors. */
export function connectionBounds(descriptors: number = maxDescriptors()): ConnectionBounds {
  const all = Math.max(16, descriptors - RESERVED - descriptorsForFiles(descriptors));
  return { each: Math.min(1000, Math.ceil(all / 4)), all };
}

/** How many file descriptors this process may have; infinite if the system does not report it (only Linux does). */
function maxDescriptors(): number {
  try {
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return found ? Number(found[1]) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Bounds of uploads for this many file descriptors: at most half of those for files. The rest is for downloads. */
export function uploadQuota(descriptors: number = maxDescriptors()): QuotaBounds {
  const all = Math.min(uploadBounds.all, Math.floor(descriptorsForFiles(descriptors) / 2));
  return { each: uploadBounds.each, all: Math.max(uploadBounds.each, all) };
}

const descriptorsForFiles = (descriptors: number): number =>
  Math.min(Math.ceil((descriptors - RESERVED) / 4), FOR_FILES);

interface OpenConnection {
  readonly socket: Socket;
  /** The response to its last request; null before the first request. */
  response: ServerResponse | null;
}

const isIdle = ({ response }: OpenConnection): boolean =>
  response === null || response.writableFinished || response.destroyed;

/**
 * The connections of a server. For a new one beyond a bound, the oldest idle one (of the same address, or of all) is closed. If
 * none is idle, the new one is closed before anything is read from it.
 */
export class HttpConnections {
  readonly #bounds: ConnectionBounds;
  readonly #isExempt: (address: string) => boolean;
  readonly #byClient = new Map<string, Set<OpenConnection>>();
  /** Connections that may be closed while they are idle, the oldest first. */
  readonly #closable = new Map<Socket, OpenConnection>();
  /** By the socket of a request. With TLS, that is not the socket of the connection. */
  readonly #opens = new WeakMap<Socket, OpenConnection>();
  #count = 0;

  /** `isExempt`: whether an address is of this machine or of a trusted proxy. */
  constructor(server: Server, isExempt: (address: string) => boolean, bounds = connectionBounds()) {
    this.#bounds = bounds;
    this.#isExempt = isExempt;
    const byPeer = new Map<string, OpenConnection>();
    server.on('connection', (socket: Socket) => {
      const open = this.#accept(socket);
      if (!open || socket.remotePort === undefined) return;
      const peer = peerOf(socket);
      byPeer.set(peer, open);
      socket.once('close', () => byPeer.delete(peer));
    });
    server.on('secureConnection', (socket: Socket) => {
      const open = socket.remotePort === undefined ? null : byPeer.get(peerOf(socket));
      if (open) this.#opens.set(socket, open);
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const open = this.#opens.get(socket);
      if (open) open.response = response;
    });
  }

  /** Counts a connection that the server does not report. False if there is no room: then it is closed. */
  add(socket: Socket): boolean {
    return this.#accept(socket) !== null;
  }

  /** Keeps a connection open that has become a stream. */
  keep(socket: Socket): void {
    const open = this.#opens.get(socket);
    if (open) this.#closable.delete(open.socket);
  }

  #accept(socket: Socket): OpenConnection | null {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return null;
    const client = this.#isExempt(remoteAddress) ? null : clientOf(remoteAddress);
    if (!this.#hasRoom(client)) {
      socket.destroy();
      return null;
    }
    const open: OpenConnection = { socket, response: null };
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

  #closeOldestIdle(opens: Iterable<OpenConnection>): boolean {
    for (const open of opens) {
      if (!this.#closable.has(open.socket) || !isIdle(open)) continue;
      this.#closable.delete(open.socket);
      open.socket.destroy();
      return true;
    }
    return false;
  }

  #release(open: OpenConnection, client: string | null): void {
    this.#count--;
    this.#closable.delete(open.socket);
    if (client === null) return;
    const left = this.#byClient.get(client);
    left?.delete(open);
    if (left?.size === 0) this.#byClient.delete(client);
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

interface StartedRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly milliseconds: number;
}
/** Requests with a body that started in this turn of the event loop. */
let started: StartedRequest[] = [];

/**
 * Refuses a body that does not arrive in time, and closes its connection. Almost all bodies arrive with their header, so only
 * those that are incomplete at the end of this turn of the event loop get a timer (measured, 2 µs per request).
 */
export function boundBody(request: FastifyRequest, reply: FastifyReply, milliseconds = BODY_MS): void {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && !Number(headers['content-length'])) return;
  if (started.push({ request, reply, milliseconds }) === 1) setImmediate(boundIncomplete);
}

function boundIncomplete(): void {
  const requests = started;
  started = [];
  for (const { request, reply, milliseconds } of requests)
    if (!request.raw.complete && !request.raw.destroyed) startTimer(request, reply, milliseconds);
}

function startTimer(request: FastifyRequest, reply: FastifyReply, milliseconds: number): void {
  const timer = setTimeout(() => {
    reply.header('connection', 'close');
    sendError(new ApiError(Code.parameterError, 'the body did not arrive in time'), request, reply, false);
    reply.raw.once('finish', () => request.raw.destroy());
  }, milliseconds);
  const clear = () => clearTimeout(timer);
  request.raw.once('end', clear);
  request.raw.once('close', clear);
}

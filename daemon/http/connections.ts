/** Bounds on what one client can hold open: connections of an address, and the time in which a JSON body must arrive. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { ApiError } from '../../src/contract/codes.ts';
import { isLoopbackName } from '../loopback.ts';
import { sendError } from './responses.ts';

/** Connections of one address. This machine and trusted proxies stand for many clients and have no bound. */
export const CONNECTIONS_EACH = 1000;
/** Milliseconds in which a JSON body must be there. */
const BODY_MS = 60_000;

/** Cuts off connections beyond the bound before anything is read from them. */
export function boundConnections(
  server: Server,
  trusted: readonly string[],
  each = CONNECTIONS_EACH,
  exempt = isExempt,
): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || exempt(address, trusted)) return;
    const client = clientOf(address);
    const count = open.get(client) ?? 0;
    if (count >= each) {
      socket.destroy();
      return;
    }
    open.set(client, count + 1);
    socket.once('close', () => {
      const left = open.get(client)! - 1;
      if (left > 0) open.set(client, left);
      else open.delete(client);
    });
  });
}

/** Of IPv6 the network (/64): whoever has one address of it has all. */
function clientOf(address: string): string {
  const plain = address.replace(/^::ffff:/, '').split('%', 1)[0]!;
  if (!plain.includes(':')) return plain;
  const [network] = ipaddr.IPv6.networkAddressFromCIDR(`${plain}/64`).toNormalizedString().split('%');
  return network!;
}

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

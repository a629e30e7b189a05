/** Whether a request is from this machine. With a proxy here all clients use loopback: headers, or a public Host, show that. */
import type { FastifyRequest } from 'fastify';
import { isLoopbackName } from '../../src/contract/local.ts';
import { isOfUnixSocket } from './extra-listeners.ts';
import { isLoopbackHost } from './origin.ts';

const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/** Whether a program or browser on this machine has sent it, and not through a proxy. */
export const isFromThisMachine = ({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): boolean =>
  isLoopback(socket.remoteAddress) &&
  proxyHeaders.every(name => headers[name] === undefined) &&
  (isOfUnixSocket(socket) || isLoopbackHost(headers.host ?? ''));

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && isLoopbackName(address.replace(/^::ffff:/, ''));
}

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** How much of a refused body is still taken, and for how long. */
export interface DrainBounds {
  readonly bytes: number;
  readonly milliseconds: number;
}

/**
 * Lets a client that is still sending read its answer: many read only when they have sent everything, and a connection
 * closed under them would take the answer with it. Answers at once where the connection lives on, else after the rest.
 */
export function drainRefused(scope: FastifyInstance, bounds: DrainBounds): void {
  scope.addHook('onSend', async (request, reply) => {
    if (!reply.raw.shouldKeepAlive) await drain(request.raw, bounds);
  });
  scope.addHook('onResponse', async request => {
    if (!(await drain(request.raw, bounds))) request.raw.socket.destroy();
  });
}

/** Takes and forgets the rest of a body; false where the bounds came before its end. */
function drain(request: IncomingMessage, bounds: DrainBounds): Promise<boolean> {
  if (request.complete || request.destroyed) return Promise.resolve(true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let left = bounds.bytes;
  const count = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) resolve(false);
  };
  const over = () => resolve(true);
  const timer = setTimeout(() => resolve(false), bounds.milliseconds).unref();
  request.on('data', count).on('end', over).on('close', over).on('error', over);
  request.resume();
  return promise.finally(() => {
    clearTimeout(timer);
    request.off('data', count).off('end', over).off('close', over);
  });
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** How much of a refused body is still taken, and for how long, before the connection is cut. */
export interface DrainBounds {
  readonly bytes: number;
  readonly milliseconds: number;
}

/**
 * Lets a client that is still sending read its answer: many read only when they have sent everything, and a connection
 * closed under them would take the answer with it. The answer goes at once, the close waits for the rest of the body.
 */
export function drainRefused(scope: FastifyInstance, bounds: DrainBounds): void {
  const toClose = new WeakSet<IncomingMessage>();
  scope.addHook('onSend', async (request, reply) => {
    if (request.raw.complete || reply.raw.shouldKeepAlive) return;
    toClose.add(request.raw);
    keepOpen(reply.raw);
  });
  scope.addHook('onResponse', async ({ raw }) => {
    const whole = await drain(raw, bounds);
    if (toClose.has(raw)) raw.socket.destroySoon();
    else if (!whole) raw.socket.destroy();
  });
}

/** The same for one answer, to a body that is refused for its size alone: where its end comes in time, the connection lives on. */
export function drainAfter({ raw }: FastifyRequest, reply: FastifyReply, bounds: DrainBounds): void {
  if (raw.complete) return;
  reply.removeHeader('connection');
  reply.raw.once('finish', () => {
    void drain(raw, bounds).then(whole => {
      if (!whole) raw.socket.destroy();
    });
  });
}

/** Node would close right after the answer, which makes the system drop what the client has not read yet. */
function keepOpen(response: ServerResponse): void {
  response.shouldKeepAlive = true;
  response.removeHeader('connection');
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

/**
 * Lets a client that is still sending read its response. Many clients read only after they have sent everything, and closing the
 * connection earlier would discard the response. So the response is sent at once, and the connection closes after the rest of the
 * body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** How much of a refused body is still read, and for how long, before the connection is closed. */
interface DrainLimits {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** Drains the body of every request in this scope that is answered before its end. */
export function drainRefused(scope: FastifyInstance, limits: DrainLimits): void {
  const toClose = new WeakSet<IncomingMessage>();
  scope.addHook('onSend', async (request, reply) => {
    if (request.raw.complete || reply.raw.shouldKeepAlive) return;
    toClose.add(request.raw);
    keepOpen(reply.raw);
  });
  scope.addHook('onResponse', async ({ raw }) => {
    const complete = await drain(raw, limits);
    if (toClose.has(raw)) raw.socket.destroySoon();
    else if (!complete) raw.socket.destroy();
  });
}

/** Drains one body that is refused for its size only: if it ends within the limits, the connection stays open. */
export function drainAfter({ raw }: FastifyRequest, reply: FastifyReply, limits: DrainLimits): void {
  if (raw.complete) return;
  reply.removeHeader('connection');
  reply.raw.once('finish', () => {
    void drain(raw, limits).then(complete => {
      if (!complete) raw.socket.destroy();
    });
  });
}

/** Node would close right after the response, and the system would discard what the client has not read yet. */
function keepOpen(response: ServerResponse): void {
  response.shouldKeepAlive = true;
  response.removeHeader('connection');
}

/** Reads and discards the rest of a body. False if it exceeded the limits. */
function drain(request: IncomingMessage, limits: DrainLimits): Promise<boolean> {
  if (request.complete || request.destroyed) return Promise.resolve(true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let left = limits.bytes;
  const count = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) resolve(false);
  };
  const ended = () => resolve(true);
  const timer = setTimeout(() => resolve(false), limits.milliseconds).unref();
  request.on('data', count).on('end', ended).on('close', ended).on('error', ended);
  request.resume();
  return promise.finally(() => {
    clearTimeout(timer);
    request.off('data', count).off('end', ended).off('close', ended);
  });
}

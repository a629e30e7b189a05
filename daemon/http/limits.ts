import type { FastifyReply } from 'fastify';
import type { Allowance } from '../services/limiter.ts';

/** Says in the headers of an answer what its window still allows. */
export function tellAllowance(reply: FastifyReply, allowance: Allowance): void {
  reply
    .header('x-ratelimit-limit', String(allowance.limit))
    .header('x-ratelimit-remaining', String(allowance.remaining))
    .header('x-ratelimit-reset', String(allowance.resetAt));
  if (!allowance.allowed) reply.header('retry-after', String(allowance.retryAfter));
}

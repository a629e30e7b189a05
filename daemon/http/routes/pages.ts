import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseNullInUrl } from '../null-text.ts';

/** Content security policy of pages: they load everything from this daemon. `data:` is for icons inside style sheets. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Sends a document or a file of a page. `caching`: unless it is given, a browser may keep it but must check each time whether it is current. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  content: string | Buffer,
  caching = 'no-cache',
): FastifyReply {
  refuseNullInUrl(request.url);
  const etag = `"${createHash('sha256').update(content).digest('base64url')}"`;
  reply.header('cache-control', caching).header('etag', etag).header('referrer-policy', 'no-referrer');
  reply.header('x-content-type-options', 'nosniff');
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type(type).send(content);
}

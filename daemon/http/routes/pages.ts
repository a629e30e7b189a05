import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type CarriedFolder, carriedStamp, readCarried } from '../../base/carried-files.ts';
import { TimeSlice } from '../../base/concurrency.ts';
import { refuseNullInUrl } from '../null-text.ts';
import { hasMatch } from '../ranges.ts';

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

/** The content of a page or document, with its tag. Made once, because a sender without a token can ask for it repeatedly. */
export interface Page {
  readonly content: Buffer;
  readonly etag: string;
}

/** The page of this content. */
export function pageOf(text: string | Buffer): Page {
  const content = Buffer.from(text);
  return { content, etag: `"${createHash('sha256').update(content).digest('base64url')}"` };
}

const files = new Map<string, { readonly stamp: string; readonly page: Page }>();

/** A file that comes with the program. It is read again after it has changed, because an upgrade replaces it below a running daemon. */
export async function pageOfFile(folder: CarriedFolder, name: string): Promise<Page> {
  const key = `${folder.name}/${name}`;
  const stamp = await carriedStamp(folder, name);
  const known = files.get(key);
  if (known?.stamp === stamp) return known.page;
  const page = pageOf(await readCarried(folder, name));
  files.set(key, { stamp, page });
  return page;
}

/** Sends a document or a file of a page. `caching`: without it, a browser may keep it but must check each time. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  { content, etag }: Page,
  caching = 'no-cache',
): Promise<FastifyReply> {
  refuseNullInUrl(request.url);
  reply.header('cache-control', caching).header('etag', etag).header('referrer-policy', 'no-referrer');
  reply.header('x-content-type-options', 'nosniff');
  if (hasMatch(request.headers['if-none-match'], etag)) return reply.code(304).send();
  // Many that wait for one document get it in one turn of the event loop, and writing a megabyte takes a millisecond.
  const slice = new TimeSlice();
  if (slice.over) await slice.pass();
  return reply.type(type).send(content);
}

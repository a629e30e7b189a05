import type { FastifyReply, FastifyRequest } from 'fastify';
import { codes } from '../../src/contract/codes.ts';
import type { Download } from '../services/stored-files.ts';
import { envelope, JSON_TYPE } from './answers.ts';
import { hasMatch, mayResume, rangeOf } from './ranges.ts';

/** Answers with a file or the part of it that was asked for; the file is closed in any case. */
export async function sendDownload(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<unknown> {
  const { blob, sha256, fileName } = download;
  const etag = `"${sha256}"`;
  const { range, 'if-none-match': ifNoneMatch, 'if-range': ifRange } = request.headers;
  // Whoever may see it may keep it, and asks with its ETag whether it still holds.
  reply.headers({ etag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-cache' });
  if (hasMatch(ifNoneMatch, etag)) {
    await blob.close();
    return reply.code(304).send();
  }
  const part = mayResume(oneOf(ifRange), etag) ? rangeOf(range, blob.size) : 'whole';
  if (part === 'unsatisfiable') {
    await blob.close();
    reply.headers({ 'content-type': JSON_TYPE, 'content-range': `bytes */${blob.size}` });
    return reply.code(416).send(envelope(416, codes[416].meaning));
  }
  const { start, end } = part === 'whole' ? { start: 0, end: blob.size - 1 } : part;
  if (part !== 'whole') reply.code(206).header('content-range', `bytes ${start}-${end}/${blob.size}`);
  reply.headers({
    'content-type': 'application/octet-stream',
    'content-length': String(end - start + 1),
    'content-disposition': disposition(fileName),
  });
  const content = blob.stream(start, end);
  // The status is out: the log gets the reason, and the client a connection that ends before its Content-Length is there.
  const breakOff = (error: Error): void => {
    request.server.diary.error({ requestId: request.id, err: error }, 'a download was broken off');
    reply.raw.destroy();
  };
  content.once('error', breakOff);
  content.once('end', () => {
    if (content.bytesRead <= end - start) breakOff(new Error(`the file of ${fileName} ended before its time`));
  });
  return reply.send(content);
}

const oneOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/** To be saved, never shown as a page: with a plain name for old clients and the real one (RFC 6266). */
function disposition(fileName: string): string {
  const plain = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

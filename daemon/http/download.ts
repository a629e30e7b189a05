import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { codes } from '../../src/contract/codes.ts';
import type { Download } from '../services/stored-files.ts';
import { detach, youngGrowth } from '../streamed-memory.ts';
import { hasMatch, mayResume, rangeOf } from './ranges.ts';
import { envelope, JSON_TYPE } from './responses.ts';

/** Sends a file or the requested part of it. The file is closed however this ends. */
export async function sendDownload(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<unknown> {
  const { blob, sha256, fileName } = download;
  const etag = `"${sha256}"`;
  const { range, 'if-none-match': ifNoneMatch, 'if-range': ifRange } = request.headers;
  // A client that may see the file may keep it, and asks with the ETag whether it is still current.
  reply.headers({ etag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-cache' });
  if (hasMatch(ifNoneMatch, etag)) {
    await blob.close();
    return reply.code(304).send();
  }
  const part = mayResume(single(ifRange), etag) ? rangeOf(range, blob.size) : 'whole';
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
  return reply.send(contentOf(request, reply, download, start, end));
}

/** If the file ends early, the log gets the reason and the client a connection that closes before its Content-Length. */
function contentOf(request: FastifyRequest, reply: FastifyReply, download: Download, start: number, end: number) {
  const content = download.blob.stream(start, end);
  detachSent(reply.raw);
  const abort = (error: Error): void => {
    request.server.logger.error({ requestId: request.id, err: error }, 'a download was cut off');
    reply.raw.destroy();
  };
  content.once('error', abort);
  content.once('end', () => {
    if (content.bytesRead <= end - start) abort(new Error(`the file of ${download.fileName} ended early`));
  });
  return content;
}

/** Frees the memory of each piece as soon as it is sent: more than 64 MiB would accumulate before each garbage collection. */
function detachSent(response: ServerResponse): void {
  const write = response.write.bind(response) as (piece: Buffer, sent: () => void) => boolean;
  response.write = (piece: Buffer) => write(piece, () => detach(piece));
}

/** Milliseconds for which a client may take nothing of a text that is made while it is sent. */
const STALLED_MS = 30_000;

/**
 * A stream of text that is made while it is sent. If it fails, the log gets the reason and the client a connection that closes
 * before the end of the response; likewise if the client stops reading.
 */
export function textStream(
  pieces: AsyncGenerator<string, void>,
  request: FastifyRequest,
  reply: FastifyReply,
): Readable {
  const content = Readable.from(pieces, { objectMode: false, highWaterMark: 256 * 1024 });
  content.once('error', error => {
    request.server.logger.error({ requestId: request.id, err: error }, 'an export was cut off');
    reply.raw.destroy();
  });
  const stalled = setTimeout(() => content.destroy(new Error('the client stopped reading')), STALLED_MS);
  content.on('data', (piece: Buffer) => {
    stalled.refresh();
    youngGrowth.streamed(piece.length);
  });
  content.once('close', () => clearTimeout(stalled));
  return content;
}

const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/**
 * To be saved, never shown as a page; with an ASCII name for old clients and the real one (RFC 6266). Always with quotes and
 * both names: the package content-disposition leaves out what it can, which old clients do not expect, and needs the ASCII
 * name from here as well.
 */
function disposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

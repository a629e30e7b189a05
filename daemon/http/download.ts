import type { ServerResponse } from 'node:http';
import { finished, Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { codes } from '../../src/contract/codes.ts';
import { stallSeconds } from '../../src/contract/limits.ts';
import { detach } from '../base/streamed-memory.ts';
import type { Download, StartedExport } from '../requests/content.ts';
import { hasMatch, mayResume, rangeOf } from './ranges.ts';
import { envelope, JSON_TYPE } from './responses.ts';

/** Sends a file or the requested part of it. The file is closed however this ends. */
export async function sendDownload(
  request: FastifyRequest,
  reply: FastifyReply,
  download: Download,
  stallMs = stallSeconds * 1000,
): Promise<unknown> {
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
  const content = contentOf(request, reply, download, start, end);
  void boundReader(reply.raw, content, stallMs);
  return reply.send(content);
}

/** If the file ends early, the log gets the reason and the client a connection that closes before its Content-Length. */
function contentOf(request: FastifyRequest, reply: FastifyReply, download: Download, start: number, end: number) {
  const content = download.blob.stream(start, end);
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

/**
 * Ends a response, and the content that it is sent from, if its client takes nothing for `milliseconds`: before the first byte, between
 * two pieces, or after the last one was made. Also frees the memory of each piece as soon as it is sent: more than 64 MiB would
 * accumulate before each garbage collection. Resolves when the response has ended, however it does.
 */
function boundReader(response: ServerResponse, content: Readable, milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    // The client waits for the daemon.
    if (response.writableLength === 0) return void timer.refresh();
    content.destroy(new Error('the client stopped reading'));
    response.destroy();
    resolve();
  }, milliseconds);
  const write = response.write.bind(response) as (piece: Buffer, sent: () => void) => boolean;
  response.write = (piece: Buffer) =>
    write(piece, () => {
      detach(piece);
      timer.refresh();
    });
  // A response that waits for an earlier one on its connection does not notice that the connection closes: then the timer ends it.
  finished(response, () => resolve());
  return promise.finally(() => clearTimeout(timer));
}

/**
 * The content of an export. If it fails, the log gets the reason and the client a connection that closes before the end of the
 * response; likewise if the client stops reading.
 */
export function exportContent(
  { pieces, end }: StartedExport,
  request: FastifyRequest,
  reply: FastifyReply,
  stallMs = stallSeconds * 1000,
): Readable {
  const content = Readable.from(pieces, { objectMode: false, highWaterMark: 256 * 1024 });
  content.once('error', error => {
    request.server.logger.error({ requestId: request.id, err: error }, 'an export was cut off');
    reply.raw.destroy();
  });
  const closed = new Promise(resolve => content.once('close', resolve));
  void Promise.all([boundReader(reply.raw, content, stallMs), closed]).then(end);
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

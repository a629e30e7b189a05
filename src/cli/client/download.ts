/** A file as it comes from the server, resumed if the connection breaks. */
import type { RouteName } from '../../contract/endpoints.ts';
import { waitMs } from '../../delivery/retry.ts';
import { failure } from '../fault.ts';
import { schedules } from '../retry.ts';
import type { Client } from './client.ts';
import type { FileResponse } from './exchange.ts';
import { Unreachable } from './failures.ts';

/** A file to download. */
interface FileDownload {
  readonly client: Client;
  readonly operation: RouteName;
  readonly params: Readonly<Record<string, unknown>>;
  /** Bytes of the file. */
  readonly size: number;
  /** Hex. The server's ETag: a file that has changed since then is not resumed. The caller checks the digest. */
  readonly sha256: string;
  /** Called before each further attempt. */
  readonly onRetry: (text: string) => void;
}

/**
 * The bytes of a file in order, each once. If the connection breaks, the rest is requested with a range; a server that sends
 * the whole file again is read up to the same place. `Unreachable` once several attempts in a row have brought nothing.
 */
export async function* downloadedBytes(download: FileDownload): AsyncGenerator<Buffer> {
  const { client, size, onRetry } = download;
  let received = 0;
  for (let failures = 0; ; ) {
    try {
      for await (const chunk of bytesFrom(download, received)) {
        received += chunk.length;
        failures = 0;
        if (received > size) throw failure(`the server sent more than the ${size} bytes of the file`);
        yield chunk;
      }
      return;
    } catch (error) {
      if (received === size) return;
      const pause = waitMs(schedules.download, failures++);
      if (!(error instanceof Unreachable) || received === 0 || pause === null) throw error;
      onRetry(`${error.message}; resuming in ${pause / 1000} s`);
      await client.pause(pause);
    }
  }
}

async function* bytesFrom({ client, operation, params, sha256 }: FileDownload, start: number): AsyncGenerator<Buffer> {
  const headers = start === 0 ? {} : { range: `bytes=${start}-`, 'if-range': `"${sha256}"` };
  const response = await client.download({ operation, input: { params }, headers });
  let skip = start - startOf(response, start);
  for await (const chunk of response.bytes) {
    const fresh = skip === 0 ? chunk : chunk.subarray(Math.min(skip, chunk.length));
    skip -= chunk.length - fresh.length;
    if (fresh.length > 0) yield fresh;
  }
}

/** The first byte that a response brings. */
function startOf({ status, headers }: FileResponse, wanted: number): number {
  if (status !== 206) return 0;
  if (Number(/^bytes (\d+)-/.exec(String(headers['content-range']))?.[1]) !== wanted)
    throw failure(`the server sent another part of the file than requested`);
  return wanted;
}

/** A stored file of the server, downloaded to a file or to standard output; kept only if it is whole and its digest is right. */

import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, renameSync, rmSync, statSync, type WriteStream } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RouteName } from '../../../contract/endpoints.ts';
import { retry, waitMs } from '../../../delivery/retry.ts';
import { schedules } from '../../../delivery/schedules.ts';
import type { Client } from '../../client/client.ts';
import type { FileResponse } from '../../client/exchange.ts';
import { Unreachable } from '../../client/failures.ts';
import { Fault, failure, systemCode, systemWords, usage } from '../../fault.ts';
import { writeFailure } from '../../terminal/io.ts';
import { safe } from '../../terminal/text.ts';
import { bytes } from '../../terminal/when.ts';
import { type Context, notify } from '../context.ts';
import { type FlagShapes, type FlagValues, fileFlag } from '../flags.ts';
import { present } from '../present.ts';

/** A file that the server stores. */
interface StoredFile {
  /** Id of its record. */
  readonly id: string;
  /** As the server names it: only its last part is used. */
  readonly fileName: string;
  /** Name of the file if the server's cannot be used. */
  readonly otherName: string;
  readonly fileSize: number;
  /** Hex. */
  readonly sha256: string;
  /** The operation that sends the file, and its path parameters. */
  readonly operation: RouteName;
  readonly params: Readonly<Record<string, string>>;
}

/** Flags that say where a download is written to. */
export const targetFlags = {
  out: fileFlag('file or folder to write to; - is standard output'),
  force: { help: 'overwrite an existing file' },
} as const satisfies FlagShapes;

/** The values of `targetFlags`. */
type TargetFlags = FlagValues<typeof targetFlags>;

/** A usage error if a download and its JSON would both go to standard output. */
export function checkTarget({ globals }: Context, { out }: TargetFlags): void {
  if (out === '-' && globals.json) throw usage('--out - and --json both write to standard output');
}

/** Downloads a file and writes its `record` as the result, with the name of the file. What arrives damaged is deleted. */
export async function downloadTo(
  context: Context,
  flags: TargetFlags,
  stored: StoredFile,
  record: object,
): Promise<void> {
  checkTarget(context, flags);
  if (flags.out === '-') return fetchTo(context, stored, context.io.stdout, false);
  const file = targetOf(flags.out, stored);
  if (existsSync(file) && !flags.force)
    throw usage(`${file} already exists`, 'name another file with --out, or add --force');
  await writeComplete(file, target => fetchTo(context, stored, target, true));
  await present(context, {
    data: { ...record, file },
    id: file,
    title: `${safe(stored.id)} is in ${safe(file)}`,
    rows: [
      ['size', bytes(stored.fileSize)],
      ['SHA-256', `${safe(stored.sha256)} (checked)`],
    ],
  });
}

/**
 * Writes a file that only this user can read, under another name until it is complete: a file with the name is whole. What was written
 * before an error is deleted; an error of the system becomes a fault.
 */
export async function writeComplete(file: string, write: (target: WriteStream) => Promise<void>): Promise<void> {
  const aside = `${file}.${process.pid}.part`;
  const target = createWriteStream(aside, { flags: 'wx', mode: 0o600 });
  const closed = new Promise(resolve => target.once('close', resolve));
  try {
    await write(target);
    renameSync(aside, file);
  } catch (error) {
    // A file that is still being opened would be made after it was removed.
    target.destroy();
    await closed;
    rmSync(aside, { force: true });
    throw systemCode(error) && !(error instanceof Fault)
      ? failure(`cannot write ${file}: ${systemWords(error)}`)
      : error;
  }
}

/** Bytes of a name that the file system accepts with the ending of an incomplete file: it has 255. */
const longestName = 240;

/**
 * The server chooses the name: only the last part of a path is used. A shell or another program may carry out a file that is hidden, and
 * take a name such as `-rf` for an option.
 */
function targetOf(out: string | undefined, { fileName, otherName }: StoredFile): string {
  const plain = safe(basename(fileName.replaceAll('\\', '/')));
  const isUsable = /^[^.-]/.test(plain) && Buffer.byteLength(plain) <= longestName;
  const own = isUsable ? plain : otherName;
  if (out === undefined) return own;
  return statSync(out, { throwIfNoEntry: false })?.isDirectory() ? join(out, own) : out;
}

/** Resolves when everything that was written is flushed: the program does not wait for it when it exits. */
function flushed(target: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    target.write('', error => (error ? reject(error) : resolve()));
  });
}

/** The bytes of a file. A fault at the end if their digest is not that of the file. */
async function* checkedBytes(context: Context, stored: StoredFile): AsyncGenerator<Buffer> {
  const { out, registry } = context;
  const { operation, params, fileSize, sha256 } = stored;
  const { progress } = out;
  const hash = createHash('sha256');
  const onRetry = (text: string) => {
    progress.clear();
    notify(context, text);
  };
  let received = 0;
  try {
    const download = { client: registry, operation, params, size: fileSize, sha256, onRetry };
    for await (const chunk of downloadedBytes(download)) {
      hash.update(chunk);
      received += chunk.length;
      progress.show('Downloading', received, fileSize, bytes);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Unreachable && received > 0)
      throw new Unreachable(
        `the connection was lost after ${bytes(received)} of ${bytes(fileSize)}`,
        false,
        'try again',
      );
    throw error;
  } finally {
    progress.clear();
  }
  const digest = hash.digest('hex');
  if (digest !== sha256)
    throw failure(`${stored.id} arrived damaged: its SHA-256 is ${digest} and should be ${sha256}`, 'try again');
}

/** `end` shows whether the target is to be ended. */
async function fetchTo(
  context: Context,
  stored: StoredFile,
  target: NodeJS.WritableStream,
  end: boolean,
): Promise<void> {
  try {
    await pipeline(checkedBytes(context, stored), target, { end, signal: context.io.interrupt });
    if (!end) await flushed(target);
  } catch (error) {
    if (context.io.interrupt.aborted) throw new Fault('interrupted', 'interrupted: the download was deleted');
    throw !end && systemCode(error) && !(error instanceof Fault) ? writeFailure(error) : error;
  }
}

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
  let source = bytesFrom(download, 0);
  const resume = async (error: unknown, failures: number) => {
    const pause = waitMs(schedules.download, failures);
    if (!(error instanceof Unreachable) || received === 0 || received === size || pause === null) throw error;
    onRetry(`${error.message}; resuming in ${pause / 1000} s`);
    await client.pause(pause);
    source = bytesFrom(download, received);
  };
  try {
    for (;;) {
      const { value: chunk, done } = await retry(() => source.next(), resume);
      if (done) return;
      received += chunk.length;
      if (received > size) throw failure(`the server sent more than the ${size} bytes of the file`);
      yield chunk;
    }
  } catch (error) {
    // The file is whole, whatever became of the connection.
    if (received !== size) throw error;
  } finally {
    await source.return(undefined);
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

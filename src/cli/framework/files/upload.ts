/** A file of this machine, sent to the server with progress and compared with what the server has stored. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Code } from '../../../contract/codes.ts';
import type { AddressedRequest } from '../../client/exchange.ts';
import { ServerRefusal } from '../../client/failures.ts';
import { failure, systemWords, usage } from '../../fault.ts';
import { safe } from '../../terminal/text.ts';
import { bytes } from '../../terminal/when.ts';
import type { Context } from '../context.ts';

/** The refusal that the server would send, before anything is sent. */
export const notAccepted = (message: string): ServerRefusal => new ServerRefusal(Code.uploadFailed, message);

const chunkBytes = 256 * 1024;

/** The file at a path. Refused if it is empty or larger than `most` bytes; a usage error if it cannot be read. */
export function fileAt({ io }: Context, path: string, most: number): SentFile {
  const { size } = statsOf(path);
  if (size === 0) throw notAccepted(`${path} is empty`);
  if (size > most) throw notAccepted(`${path} has ${bytes(size)}; the maximum is ${bytes(most)}`);
  const chunks = () => createReadStream(path, { highWaterMark: chunkBytes, signal: io.interrupt });
  return { name: basename(path), title: path, size, chunks };
}

function statsOf(path: string): Stats {
  try {
    const stats = statSync(path);
    if (stats.isFile()) return stats;
  } catch (error) {
    throw usage(`${path} cannot be read: ${systemWords(error)}`);
  }
  throw usage(`${path} is not a file`);
}

/** All of standard input as a file: its size is sent first, so it is read to its end before. At most `most` bytes. */
export async function fileOnStdin({ io }: Context, name: string, most: number): Promise<SentFile> {
  if (io.stdinIsTerminal) throw usage('standard input is a terminal', 'send a file with < or |, or name it');
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of io.stdin as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > most) throw notAccepted(`standard input has more than ${bytes(most)}, the maximum`);
    parts.push(part);
  }
  if (size === 0) throw notAccepted('standard input is empty');
  return { name, title: 'standard input', size, chunks: () => partsOf(parts) };
}

async function* partsOf(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts;
}

/** A form with a file, and how it is sent. */
interface FileUpload<T> {
  readonly file: SentFile;
  readonly fields: Readonly<Record<string, string | undefined>>;
  /** Sends the request; the record of the file that the server has stored. */
  readonly send: (request: FormRequest) => Promise<{ readonly data: T }>;
  /** Id of the record. */
  readonly idOf: (record: T) => string;
  /** Advice if the server has stored something else. */
  readonly ifDifferent: string;
}

/** The record of the file once it has been sent. A fault if the digest that the server has stored is not that of the file. */
export async function sendFile<T extends { readonly sha256: string }>(
  context: Context,
  upload: FileUpload<T>,
): Promise<T> {
  const { file, fields, send, idOf, ifDifferent } = upload;
  const { progress } = context.out;
  const onProgress = (sent: number) => progress.show('Uploading', sent, file.size, bytes);
  const { request, digest } = formRequest({ fields, file, onProgress });
  try {
    const { data: record } = await send(request);
    if (record.sha256 === digest()) return record;
    throw failure(
      `the server stored a different file: ${safe(idOf(record))} has SHA-256 ${safe(record.sha256)}, ${file.title} has ${digest()}`,
      ifDifferent,
    );
  } finally {
    progress.clear();
  }
}

/** A file to send. */
interface SentFile {
  /** Name that the server stores. */
  readonly name: string;
  /** Name for a person: its path, or standard input. */
  readonly title: string;
  /** Bytes of the file. A fault ends the upload if it turns out to have another size. */
  readonly size: number;
  /** The bytes, from the start at each call: a further attempt sends them again. */
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

/** The part of a request that is a form. */
type FormRequest = Pick<AddressedRequest, 'headers' | 'content'>;

/** A form with one file. */
interface FileForm {
  /** Fields that are undefined are left out. */
  readonly fields: Readonly<Record<string, string | undefined>>;
  /** Its field is called `file`. */
  readonly file: SentFile;
  /** Called with the bytes of the file that were sent. */
  readonly onProgress: (sent: number) => void;
}

/** The request for a form, and the SHA-256 (hex) of the file once it has been sent. */
export function formRequest(form: FileForm): { readonly request: FormRequest; readonly digest: () => string } {
  const boundary = `devmgr-${randomBytes(16).toString('hex')}`;
  const head = headOf(form, boundary);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  let digest = '';

  async function* content(): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    yield head;
    for await (const chunk of fileChunks(form)) {
      hash.update(chunk);
      yield chunk;
    }
    digest = hash.digest('hex');
    yield tail;
  }

  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(head.length + form.file.size + tail.length),
  };
  return { request: { headers, content }, digest: () => digest };
}

function headOf({ fields, file }: FileForm, boundary: string): Buffer {
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  const name = file.name.replace(/["\r\n]/g, character => encodeURIComponent(character));
  return Buffer.from(
    `${parts.join('')}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
}

async function* fileChunks({ file, onProgress }: FileForm): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const chunk of file.chunks()) {
    sent += chunk.length;
    if (sent > file.size) break;
    onProgress(sent);
    yield chunk;
  }
  if (sent !== file.size) throw failure(`${file.title} changed during the upload`);
}

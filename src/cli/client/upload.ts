/** A file as part of a multipart form, sent as it is read from the disk. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { Fault } from '../fault.ts';
import type { FileRequest } from './client.ts';

/** A form with one file. */
export interface FileForm {
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Path of the file; its field is called `file`. */
  readonly file: string;
  /** Bytes of the file. A fault ends the upload if it turns out to have another size. */
  readonly size: number;
  readonly signal: AbortSignal;
  /** Called with the bytes of the file sent so far. */
  readonly onProgress: (sent: number) => void;
}

const chunkBytes = 256 * 1024;

/** The request for a form, and the SHA-256 (hex) of the file once it has been sent. */
export function formRequest(form: FileForm): { readonly request: FileRequest; readonly digest: () => string } {
  const boundary = `devmgr-${randomBytes(16).toString('hex')}`;
  const head = headOf(form, boundary);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  let digest = '';

  async function* body(): AsyncGenerator<Uint8Array> {
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
    'content-length': String(head.length + form.size + tail.length),
  };
  return { request: { headers, body }, digest: () => digest };
}

function headOf({ fields, file }: FileForm, boundary: string): Buffer {
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const name = basename(file).replace(/["\r\n]/g, character => encodeURIComponent(character));
  return Buffer.from(
    `${parts.join('')}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
}

async function* fileChunks({ file, size, signal, onProgress }: FileForm): AsyncGenerator<Buffer> {
  let sent = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: chunkBytes, signal }) as AsyncIterable<Buffer>) {
    sent += chunk.length;
    if (sent > size) break;
    onProgress(sent);
    yield chunk;
  }
  if (sent !== size) throw new Fault('failure', `${file} changed during the upload`);
}

/** A file as part of a multipart form, sent as it is read. */
import { createHash, randomBytes } from 'node:crypto';
import { failure } from '../fault.ts';
import type { AddressedRequest } from './exchange.ts';

/** A file to send. */
export interface SentFile {
  /** What the server stores as its name. */
  readonly name: string;
  /** What a person calls it: its path, or standard input. */
  readonly title: string;
  /** Bytes of the file. A fault ends the upload if it turns out to have another size. */
  readonly size: number;
  /** The bytes, from the start at each call: a further attempt sends them again. */
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

/** The part of a request that is a form. */
export type FormRequest = Pick<AddressedRequest, 'headers' | 'content'>;

/** A form with one file. */
interface FileForm {
  /** Those that are undefined are left out. */
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

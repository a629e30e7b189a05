/** Uploads of files. `fetch` reports no progress, so this is an XMLHttpRequest; the browser reads the file from the disk. */
import type { ErrorCode } from '../../src/contract/codes.ts';
import type { DataOf } from '../../src/contract/define.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { Problem } from './problem.ts';
import { addressOf, token } from './request.ts';

/** Fields that are sent besides the file. Empty texts are left out. */
type UploadFields = Readonly<Record<string, string | boolean>>;

/**
 * Sends a file and returns the data of the response. `onSent` gets the bytes that are sent. Throws `Problem`, and AbortError if
 * `signal` aborts.
 */
export function upload<N extends 'uploadAppVersion' | 'createBackup'>(
  name: N,
  params: Readonly<Record<string, string>>,
  file: File,
  fields: UploadFields,
  { onSent, signal }: { readonly onSent: (bytes: number) => void; readonly signal: AbortSignal },
): Promise<DataOf<Routes[N]>> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', addressOf(name, { params }));
    request.setRequestHeader('authorization', `Bearer ${token.peek()}`);
    request.upload.onprogress = ({ loaded }) => onSent(Math.min(loaded, file.size));
    request.onload = () => {
      const { code, message, data } = envelopeOf(request);
      if (code === 200) resolve(data as DataOf<Routes[N]>);
      else reject(new Problem(code, message, request.getResponseHeader('x-request-id'), data));
    };
    request.onerror = () => reject(new Problem(0, 'the connection was lost, or the file has changed'));
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(formOf(file, fields));
  });
}

/** The file comes last: what is wrong with the other fields is then refused before it is stored. */
function formOf(file: File, fields: UploadFields): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== '') form.append(name, String(value));
  form.append('file', file);
  return form;
}

type Envelope = Readonly<{ code: ErrorCode; message: string; data: unknown }>;

/** A response for 429 shows when the next upload is possible: that is its `data`, in seconds. */
function envelopeOf(request: XMLHttpRequest): Omit<Envelope, 'code'> & { readonly code: ErrorCode | 200 } {
  try {
    const envelope = JSON.parse(request.responseText) as Envelope;
    const wait = Number(request.getResponseHeader('retry-after'));
    return envelope.code === 429 ? { ...envelope, data: wait } : envelope;
  } catch {
    return { code: 500, message: `HTTP ${request.status}`, data: null };
  }
}

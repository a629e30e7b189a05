/** Multipart forms as bytes, so that a test decides every one of them. */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answer, TestDaemon } from './daemon.ts';

export const boundary = 'devmgr-test-boundary';
export const formType = `multipart/form-data; boundary=${boundary}`;

export interface FilePart {
  /** Undefined leaves the parameter out. */
  readonly fileName?: string | undefined;
  readonly content: Uint8Array | string;
  readonly headers?: readonly string[];
}
export type Part = readonly [name: string, value: string | FilePart];

export const file = (fileName: string | undefined, content: Uint8Array | string = 'content'): Part => [
  'file',
  { fileName, content },
];

export function partHead(name: string, value: string | FilePart): string {
  const isFile = typeof value !== 'string';
  const fileName = isFile && value.fileName !== undefined ? `; filename="${value.fileName}"` : '';
  const headers = isFile ? (value.headers ?? ['Content-Type: application/octet-stream']) : [];
  const lines = [`Content-Disposition: form-data; name="${name}"${fileName}`, ...headers];
  return `--${boundary}\r\n${lines.join('\r\n')}\r\n\r\n`;
}
export const formEnd = `\r\n--${boundary}--\r\n`;

export function formBytes(parts: readonly Part[]): Buffer {
  const pieces = parts.map(([name, value], i) => {
    const content = typeof value === 'string' ? value : value.content;
    return Buffer.concat([Buffer.from((i ? '\r\n' : '') + partHead(name, value)), Buffer.from(content as string)]);
  });
  return Buffer.concat([...pieces, Buffer.from(formEnd)]);
}

/** Sends a form; `daemon.call` does the rest. */
export function sendForm(
  daemon: TestDaemon,
  path: string,
  parts: readonly Part[] | Buffer,
  options: { readonly token?: string | null; readonly type?: string } = {},
): Promise<Answer> {
  const raw = Buffer.isBuffer(parts) ? parts : formBytes(parts as readonly Part[]);
  return daemon.call('POST', path, undefined, {
    headers: { 'content-type': options.type ?? formType },
    raw: new Uint8Array(raw),
    ...(options.token === undefined ? {} : { token: options.token }),
  });
}

export const uploadPath = '/api/app-versions/upload';

/** The fields an upload cannot do without. */
export const needed = (platform = 'ANDROID', version = '1.0.0'): Part[] => [
  ['platform', platform],
  ['version', version],
];

export const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

/** Every file below the folder of uploads: kept ones and those that are arriving. */
export async function filesIn(daemon: { readonly home: string }): Promise<string[]> {
  const entries = await readdir(join(daemon.home, 'blobs'), { recursive: true, withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
}

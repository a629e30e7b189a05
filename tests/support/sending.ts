/** Uploads sent piece by piece, by a client that a test holds in its hand. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { formEnd, formType, needed, partHead, uploadPath } from './forms.ts';

export interface Target {
  readonly url: string;
  readonly token: string;
}

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;

/** 64 KiB in which every neighbourhood is different; repeated, they make large files. */
export const block = Buffer.from(Array.from({ length: 64 * KiB }, (_, i) => (i * 31 + (i >> 8)) & 255));

const blocks = Buffer.concat(Array(16).fill(block));

/** The form up to the first byte of its file. */
export const formStart = (version: string, fileName = 'a.apk', platform = 'ANDROID'): Buffer =>
  Buffer.from(
    [...needed(platform, version).map(([name, value]) => `${partHead(name, value)}${value as string}\r\n`)].join('') +
      partHead('file', { fileName, content: '' }),
  );

export interface SendOptions {
  readonly path?: string;
  /** Bytes of the file as announced; undefined sends chunked, with no length. */
  readonly size?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly start?: Buffer;
}

export interface Sending {
  readonly request: ClientRequest;
  /** The answer, once it is there; the test may still be sending. */
  readonly answered: Promise<{
    readonly status: number;
    readonly code: number;
    readonly message: string;
    readonly data: never;
  }>;
  /** Sends this many bytes of the repeated block as fast as they are taken; ends early where the connection does. */
  file(bytes: number): Promise<void>;
  end(): void;
}

/** Begins an upload of an Android package: everything before the bytes of the file. */
export function beginUpload(target: Target, version: string, options: SendOptions = {}): Sending {
  const start = options.start ?? formStart(version);
  const length = options.size === undefined ? {} : { 'content-length': start.length + options.size + formEnd.length };
  const sent = request(target.url + (options.path ?? uploadPath), {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${target.token}`, 'content-type': formType, ...length, ...options.headers },
  });
  const { promise: answered, resolve, reject } = Promise.withResolvers<Awaited<Sending['answered']>>();
  answered.catch(() => {});
  sent.on('error', reject);
  sent.on('response', response => void readAnswer(response).then(resolve, reject));
  sent.write(start);
  return {
    request: sent,
    answered,
    async file(bytes) {
      for (let left = bytes; left > 0 && !sent.destroyed; left -= blocks.length)
        if (!sent.write(left < blocks.length ? blocks.subarray(0, left) : blocks)) await taken(sent);
    },
    end: () => void sent.end(formEnd),
  };
}

/** Resolves when more may be written, or never will be. */
async function taken(sent: ClientRequest): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  sent.once('drain', resolve).once('close', resolve);
  await promise;
  sent.off('drain', resolve).off('close', resolve);
}

async function readAnswer(response: IncomingMessage) {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return { status: response.statusCode!, ...JSON.parse(Buffer.concat(pieces).toString()) };
}

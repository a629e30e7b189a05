/** Reads multipart/form-data as it arrives: fields are gathered, the file is handed on as a stream. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { ApiError } from '../../src/contract/codes.ts';

/** Texts of a form's fields, by name. */
export type Fields = Readonly<Record<string, string>>;

export interface FormShape {
  /** Fields that are read; others are passed over. */
  readonly names: ReadonlySet<string>;
  readonly fileField: string;
  /** Bytes of the file at most. */
  readonly maxBytes: number;
  /** Milliseconds without a byte after which the client is given up. */
  readonly stallMilliseconds: number;
}

/** What has been made of the file, and the fields on either side of it. */
export interface Form<T> {
  readonly fields: Fields;
  /** Undefined where the form has no file. */
  readonly file: T | undefined;
}

/**
 * Takes the file from its first byte; `before` are the fields that came before it. It must take all of `content`, or reject.
 * Where the form fails, `content` is destroyed with the reason.
 */
export type FileTaker<T> = (fileName: string, content: Readable, before: Fields) => Promise<T>;

/** Bytes of a form beside its file: fields, headers and boundaries. */
export const besideFile = 16 * 1024 * 1024;

const tooLarge = (maxBytes: number) => new ApiError(4002, `the file is larger than ${maxBytes} bytes`);
const broken = (why: string) => new ApiError(4002, `the multipart form is broken: ${why}`);

/** Refuses with 1001 what is no multipart form at all. */
export function requireForm(request: IncomingMessage): void {
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new ApiError(1001, 'the body must be multipart/form-data');
}

/**
 * Reads one form. Refuses with 4002 (broken, too large, broken off) or 1001 (a part given twice), or with what `take`
 * rejects with. A file that `take` has made of a form that fails later is handed to `undo`.
 */
export async function readForm<T>(
  request: IncomingMessage,
  shape: FormShape,
  take: FileTaker<T>,
  undo: (file: T) => Promise<void>,
): Promise<Form<T>> {
  const { maxBytes } = shape;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes + besideFile) throw tooLarge(maxBytes);
  const parser = parserFor(request, shape);
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const fields: Record<string, string> = {};
  let content: Readable | undefined;
  let file: Promise<T> | undefined;

  parser.on('field', (name, value) => {
    if (name === '__proto__') reject(new ApiError(1001, '__proto__ is no field'));
    if (!shape.names.has(name)) return;
    if (Object.hasOwn(fields, name)) reject(new ApiError(1001, `${name} is given twice`));
    fields[name] = value;
  });
  parser.on('file', (name, stream, fileName) => {
    // It fails together with the parser, which tells why.
    stream.on('error', () => {});
    if (file) {
      stream.resume();
      reject(new ApiError(1001, `${name} is given twice`));
      return;
    }
    content = stream;
    file = take(fileName ?? '', stream, fields);
    file.catch(reject);
  });
  parser.on('finish', resolve);
  parser.on('error', () => reject(broken('it ends before its last boundary')));
  const stop = feed(request, parser, shape, reject);
  try {
    await ended;
    return { fields, file: await file };
  } catch (error) {
    content?.destroy(error as Error);
    const made = await file?.catch(() => undefined);
    if (made !== undefined) await undo(made);
    throw error;
  } finally {
    stop();
  }
}

function parserFor(request: IncomingMessage, { fileField }: FormShape): BusboyInstance {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      // The name decides, so that a file without a name is still the file, and a field may have any type.
      isPartAFile: name => name === fileField,
      fileHwm: 256 * 1024,
      highWaterMark: 256 * 1024,
      limits: { fieldSize: 256 * 1024, headerSize: 16 * 1024 },
    });
  } catch {
    throw broken('its Content-Type names no usable boundary');
  }
}

/** Sends the body through the parser until the returned function is called; the rest of it then stays unread. */
function feed(
  request: IncomingMessage,
  parser: BusboyInstance,
  shape: FormShape,
  fail: (error: ApiError) => void,
): () => void {
  let received = 0;
  const count = (chunk: Buffer) => {
    received += chunk.length;
    if (received > shape.maxBytes + besideFile) fail(tooLarge(shape.maxBytes));
  };
  const gone = () => {
    if (!request.complete) fail(new ApiError(4002, 'the upload was broken off'));
  };
  const stalled = () => fail(new ApiError(4002, 'the upload has stalled'));
  request.on('data', count).on('close', gone).on('error', gone).on('timeout', stalled);
  request.socket.setTimeout(shape.stallMilliseconds);
  request.pipe(parser);
  if (request.destroyed) gone();
  return () => {
    request.unpipe(parser);
    request.pause();
    request.off('data', count).off('close', gone).off('timeout', stalled);
    request.socket.setTimeout(0);
  };
}

/** Reads multipart/form-data as it arrives: fields are collected, and the file is passed on as a stream. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { refuseNullInPart } from './null-text.ts';

/** Texts of a form's fields, by name. */
export type FormFields = Readonly<Record<string, string>>;

/** Which parts of a form are read, and its bounds. */
interface FormShape {
  /** Fields that are read; others are ignored. */
  readonly names: ReadonlySet<string>;
  readonly fileField: string;
  /** Largest file in bytes. */
  readonly maxBytes: number;
  /** Milliseconds without a byte after which the upload fails. */
  readonly stallMilliseconds: number;
}

/** A form that was read to its end. */
interface Form<T> {
  readonly fields: FormFields;
  /** Result of the `FileTaker`; undefined if the form has no file. */
  readonly file: T | undefined;
}

/**
 * Takes the file from its first byte. `before` are the fields that came before it. It must read `content` to its end or reject.
 * If the form fails, `content` is destroyed with the reason.
 */
type FileTaker<T> = (fileName: string, content: Readable, before: FormFields) => Promise<T>;

/** Bytes of a form other than its file: fields, headers and boundaries. */
export const MAX_OVERHEAD = 16 * 1024 * 1024;

const tooLarge = (maxBytes: number) => new ApiError(Code.uploadFailed, `the file is larger than ${maxBytes} bytes`);
const broken = (why: string) => new ApiError(Code.uploadFailed, `the multipart form is broken: ${why}`);

/** Rejects a body that is not a multipart form with 1001. */
export function requireForm(request: IncomingMessage): void {
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new ApiError(Code.parameterError, 'the body must be multipart/form-data');
}

/**
 * Reads one form. Rejects with 4002 (broken, too large, cut off), with 1001 (a part given twice), or as `take` does. If the
 * form fails after `take` has returned, the file goes to `undo`.
 */
export async function readForm<T>(
  request: IncomingMessage,
  shape: FormShape,
  take: FileTaker<T>,
  undo: (file: T) => Promise<void>,
): Promise<Form<T>> {
  const { maxBytes } = shape;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes + MAX_OVERHEAD) throw tooLarge(maxBytes);
  return new FormReader(request, shape, take).read(undo);
}

class FormReader<T> {
  readonly #request: IncomingMessage;
  readonly #shape: FormShape;
  readonly #take: FileTaker<T>;
  readonly #parser: BusboyInstance;
  readonly #end = Promise.withResolvers<void>();
  readonly #fields: Record<string, string> = {};
  #content: Readable | undefined;
  #file: Promise<T> | undefined;

  constructor(request: IncomingMessage, shape: FormShape, take: FileTaker<T>) {
    this.#request = request;
    this.#shape = shape;
    this.#take = take;
    this.#parser = parserFor(request, shape);
  }

  async read(undo: (file: T) => Promise<void>): Promise<Form<T>> {
    this.#parser.on('field', (name, value, _nameCut, _valueCut, encoding, type) => {
      if (this.#isText(name, value, encoding, type)) this.#takeField(name, value);
    });
    this.#parser.on('file', (name, stream, fileName, encoding, type) => {
      const isText = this.#isText(name, fileName, encoding, type);
      if (isText && name === this.#shape.fileField) this.#takeFile(name, stream, fileName ?? '');
      else stream.on('error', () => {}).resume();
    });
    this.#parser.on('finish', this.#end.resolve);
    this.#parser.on('error', () => this.#end.reject(broken('it ends before its last boundary')));
    const stop = feed(this.#request, this.#parser, this.#shape, this.#end.reject);
    try {
      await this.#end.promise;
      return { fields: this.#fields, file: await this.#file };
    } catch (error) {
      this.#content?.destroy(error as Error);
      const taken = await this.#file?.catch(() => undefined);
      if (taken !== undefined) await undo(taken);
      throw error;
    } finally {
      stop();
    }
  }

  /** False, and the form fails, if a text of a part contains U+0000. */
  #isText(...texts: Parameters<typeof refuseNullInPart>): boolean {
    try {
      refuseNullInPart(...texts);
      return true;
    } catch (error) {
      this.#end.reject(error);
      return false;
    }
  }

  #takeField(name: string, value: string): void {
    if (name === '__proto__') this.#end.reject(new ApiError(Code.parameterError, '__proto__ is not a valid field'));
    if (!this.#shape.names.has(name)) return;
    if (Object.hasOwn(this.#fields, name)) this.#end.reject(inputError(name, 'is given twice'));
    this.#fields[name] = value;
  }

  #takeFile(name: string, stream: Readable, fileName: string): void {
    // It fails together with the parser, which reports why.
    stream.on('error', () => {});
    if (this.#file) {
      stream.resume();
      this.#end.reject(inputError(name, 'is given twice'));
      return;
    }
    this.#content = stream;
    this.#file = this.#take(fileName, stream, this.#fields);
    this.#file.catch(this.#end.reject);
  }
}

function parserFor(request: IncomingMessage, { fileField, names }: FormShape): BusboyInstance {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      // By the name of the part: a file without a file name is still the file, and a field may have any type. An unknown part with a
      // file name is not text.
      isPartAFile: (name, _type, fileName) =>
        name === fileField || (fileName !== undefined && name !== undefined && !names.has(name)),
      fileHwm: 256 * 1024,
      highWaterMark: 256 * 1024,
      limits: { fieldSize: 256 * 1024, headerSize: 16 * 1024 },
    });
  } catch {
    throw broken('its Content-Type has no valid boundary');
  }
}

/** Sends the body through the parser until the returned function is called; the rest of the body then stays unread. */
function feed(
  request: IncomingMessage,
  parser: BusboyInstance,
  shape: FormShape,
  fail: (error: ApiError) => void,
): () => void {
  let received = 0;
  const count = (chunk: Buffer) => {
    received += chunk.length;
    if (received > shape.maxBytes + MAX_OVERHEAD) fail(tooLarge(shape.maxBytes));
  };
  const closed = () => {
    if (!request.complete) fail(new ApiError(Code.uploadFailed, 'the upload was cut off'));
  };
  const stalled = () => fail(new ApiError(Code.uploadFailed, 'the upload has stalled'));
  request.on('data', count).on('close', closed).on('error', closed).on('timeout', stalled);
  request.socket.setTimeout(shape.stallMilliseconds);
  request.pipe(parser);
  if (request.destroyed) closed();
  return () => {
    request.unpipe(parser);
    request.pause();
    request.off('data', count).off('close', closed).off('timeout', stalled);
    request.socket.setTimeout(0);
  };
}

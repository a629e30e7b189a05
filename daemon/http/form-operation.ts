/** An operation whose input is a form with a file. */
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError, Code } from '../../src/contract/codes.ts';
import type { DataOf, FilePart, FormOf, ParamsOf, RouteShape } from '../../src/contract/define.ts';
import { uploadBounds } from '../../src/contract/limits.ts';
import { compileReader } from '../../src/contract/validate.ts';
import type { StagedBlob } from '../blobs/blobs.ts';
import { type Context, holderOf } from '../services/context.ts';
import { RetryLater } from '../services/limiter.ts';
import type { Quota } from '../services/quota.ts';
import { drainRefused } from './drain.ts';
import { type FormFields, type FormShape, MAX_OVERHEAD, readForm, requireForm } from './multipart.ts';
import { bearer, type OperationParts, operation } from './operation.ts';

/** An operation with a form. */
export type FormRoute = RouteShape & { readonly form: NonNullable<RouteShape['form']>; readonly file: FilePart };

/** Caller and path of a request with a form. */
interface FormCall<R> {
  readonly context: Context;
  readonly params: ParamsOf<R>;
}

/** A form that has arrived completely. */
interface ReceivedForm<R> {
  readonly form: FormOf<R>;
  /** As the client sent it; empty if it sent none. */
  readonly fileName: string;
  readonly blob: StagedBlob;
}

/** The file of a form that arrives. */
interface ArrivingFile {
  readonly content: Readable;
  readonly maxBytes: number;
  /** Bytes of the whole body, 0 if unknown. */
  readonly expected: number;
}

/** What an operation does with a form, in the order of the calls. Each may refuse with an `ApiError`. */
export interface FormHandler<R> {
  /** Before the body is read. */
  before?(call: FormCall<R>): Promise<void>;
  /** Before the file is read, if the fields before it are complete. `add` applies the same rules. */
  early?(form: FormOf<R>, fileName: string): Promise<void>;
  /** Stages the file. */
  stage(call: FormCall<R>, file: ArrivingFile): Promise<StagedBlob>;
  /** Stores and records the file. What is still staged afterwards is removed. */
  add(call: FormCall<R>, received: ReceivedForm<R>): Promise<DataOf<R>>;
}

/** Timeouts of an upload. */
export interface FormTimes {
  /** Milliseconds without a byte after which the upload fails. */
  readonly stall: number;
  /** Milliseconds for which the rest of a refused body is read. */
  readonly drain: number;
}
/** What an operation with a form is checked with. */
export interface FormParts extends OperationParts {
  /** Counts the uploads of all operations that arrive at the same time. Absent where no operation has a form. */
  readonly uploads?: Quota;
  readonly formTimes?: FormTimes;
}

const defaultTimes: FormTimes = { stall: 120_000, drain: 120_000 };

/** Binds an operation with a form to its handler. */
export function formOperation<const R extends FormRoute>(
  app: FastifyInstance,
  parts: FormParts,
  shape: R,
  handler: FormHandler<R>,
): void {
  const times = parts.formTimes ?? defaultTimes;
  const { uploads } = parts;
  if (!uploads) throw new Error(`${shape.id} needs a count of uploads`);
  const forms = new FormOperation({ ...parts, uploads }, shape, handler, times.stall);
  // A scope of its own: everywhere else a multipart body has the wrong type.
  app.register(async scope => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    drainRefused(scope, { bytes: shape.file.maxBytes + 2 * MAX_OVERHEAD, milliseconds: times.drain });
    operation(scope, parts, shape, ({ context, params, request }) => forms.run({ context, params }, request));
  });
}

const tooMany = `too many uploads are running: ${uploadBounds.each} at a time for a user, ${uploadBounds.all} in all`;
const RETRY_SECONDS = 5;

interface TakenFile {
  readonly fileName: string;
  readonly blob: StagedBlob;
}

class FormOperation<R extends FormRoute> {
  readonly #parts: FormParts & { readonly uploads: Quota };
  readonly #shape: R;
  readonly #handler: FormHandler<R>;
  readonly #file: FilePart;
  readonly #formShape: FormShape;
  readonly #read: ReturnType<typeof compileReader>;

  constructor(
    parts: FormParts & { readonly uploads: Quota },
    shape: R,
    handler: FormHandler<R>,
    stallMilliseconds: number,
  ) {
    this.#parts = parts;
    this.#shape = shape;
    this.#handler = handler;
    this.#file = shape.file;
    this.#read = compileReader(shape.form, 'text');
    this.#formShape = {
      names: new Set(Object.keys(shape.form.properties)),
      fileField: shape.file.field,
      maxBytes: shape.file.maxBytes,
      stallMilliseconds,
    };
  }

  /** A user who has too many uploads at a time is refused with 429 before the body is read; the window of the limit does not count that. */
  async run(call: FormCall<R>, request: FastifyRequest): Promise<DataOf<R>> {
    requireForm(request.raw);
    const holder = holderOf(call.context.caller);
    const end = this.#parts.uploads.take(holder);
    if (!end) {
      if (this.#shape.limit) this.#parts.limiter.giveBack(this.#shape.limit, holder);
      throw new RetryLater(tooMany, RETRY_SECONDS);
    }
    try {
      return await this.#receive(call, request);
    } finally {
      end();
    }
  }

  async #receive(call: FormCall<R>, request: FastifyRequest): Promise<DataOf<R>> {
    await this.#handler.before?.(call);
    const expected = Number(request.headers['content-length'] ?? 0);
    const { maxBytes } = this.#file;
    const take = async (fileName: string, content: Readable, before: FormFields): Promise<TakenFile> => {
      await this.#refuseEarly(before, fileName);
      return { fileName, blob: await this.#handler.stage(call, { content, maxBytes, expected }) };
    };
    const { fields, file } = await readForm(request.raw, this.#formShape, take, ({ blob }) => blob.discard());
    try {
      await this.#checkAgain(request);
      return await this.#handler.add(call, this.#received(fields, file));
    } finally {
      await file?.blob.discard();
    }
  }

  /** A file can take hours to arrive: a token that was revoked during the upload must not store it. Refuses with 1004, 1005 or 2007. */
  async #checkAgain(request: FastifyRequest): Promise<void> {
    const { role } = await this.#parts.tokens.check(bearer(request), request);
    const { access } = this.#shape;
    if (Array.isArray(access) && !access.includes(role))
      throw new ApiError(Code.noPermission, `the role ${role} is not allowed to do this`);
  }

  /** A missing field may follow the file; an invalid one remains invalid. */
  async #refuseEarly(before: FormFields, fileName: string): Promise<void> {
    const result = this.#read(before);
    if (result.ok) await this.#handler.early?.(result.value as FormOf<R>, fileName);
    else if (before[result.field]) throw new ApiError(Code.parameterError, result.message);
  }

  #received(fields: FormFields, file: TakenFile | undefined): ReceivedForm<R> {
    const result = this.#read(fields);
    if (!result.ok) throw new ApiError(Code.parameterError, result.message);
    if (!file || isUnfilled(file)) throw new ApiError(Code.parameterError, `${this.#file.field} is required`);
    if (file.blob.size === 0) throw new ApiError(Code.uploadFailed, 'the file is empty');
    return { form: result.value as FormOf<R>, ...file };
  }
}

/** What a browser sends if no file was chosen. */
const isUnfilled = ({ fileName, blob }: TakenFile): boolean => fileName === '' && blob.size === 0;

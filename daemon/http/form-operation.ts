/** An operation whose input is a form with a file. */
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import type { DataOf, FilePart, FormOf, ParamsOf, RouteShape } from '../../src/contract/define.ts';
import { uploadBounds } from '../../src/contract/limits.ts';
import { compileReader } from '../../src/contract/validate.ts';
import type { StagedBlob } from '../requests/blobs.ts';
import { type Context, holderOf } from '../requests/context.ts';
import { RetryLater } from '../requests/limiter.ts';
import type { Quota } from '../requests/quota.ts';
import { drainRefused } from './drain.ts';
import { type FormFields, MAX_OVERHEAD, readForm, requireForm } from './multipart.ts';
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

/** Steps of an operation with a form, in the order of the calls. Each may refuse with an `ApiError`. */
export interface FormHandler<R> {
  /** Before the file is read, if the fields before it are complete. `add` applies the same rules. */
  early?(call: FormCall<R>, form: FormOf<R>, fileName: string): Promise<void>;
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
/** Checks of an operation with a form. */
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
  const { uploads, limiter } = parts;
  if (!uploads) throw new Error(`${shape.id} needs a count of uploads`);
  const receive = receiver(parts.tokens, shape, handler, times.stall);
  // A scope of its own: everywhere else a multipart body has the wrong type.
  app.register(async scope => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    drainRefused(scope, { bytes: shape.file.maxBytes + 2 * MAX_OVERHEAD, milliseconds: times.drain });
    operation(scope, parts, shape, async ({ context, params, request }) => {
      requireForm(request.raw);
      const holder = holderOf(context.caller);
      const end = uploads.take(holder);
      // Refused before the body is read; the window of the limit does not count that.
      if (!end) {
        if (shape.limit) limiter.giveBack(shape.limit, holder);
        throw new RetryLater(tooMany, RETRY_SECONDS);
      }
      try {
        return await receive({ context, params }, request);
      } finally {
        end();
      }
    });
  });
}

const tooMany = `too many uploads are running: ${uploadBounds.each} at a time for a user, ${uploadBounds.all} in all`;
const RETRY_SECONDS = 5;

interface TakenFile {
  readonly fileName: string;
  readonly blob: StagedBlob;
}

/** Returns what receives a form and hands it to the handler. */
function receiver<R extends FormRoute>(
  tokens: FormParts['tokens'],
  { form, file: { field, maxBytes }, access }: R,
  handler: FormHandler<R>,
  stallMilliseconds: number,
) {
  const names = new Set(Object.keys(form.properties));
  const read = compileReader(form, 'text');

  /** A missing field may follow the file; an invalid one remains invalid. */
  const refuseEarly = async (call: FormCall<R>, before: FormFields, fileName: string): Promise<void> => {
    const result = read(before);
    if (result.ok) await handler.early?.(call, result.value as FormOf<R>, fileName);
    else if (before[result.field]) throw new ApiError(Code.parameterError, result.message, null, result.details);
  };
  /** A file can take hours to arrive: a token that was revoked during the upload must not store it. Refuses with 1004, 1005 or 2007. */
  const checkAgain = async (request: FastifyRequest): Promise<void> => {
    const { role } = await tokens.check(bearer(request), request);
    if (Array.isArray(access) && !access.includes(role))
      throw new ApiError(Code.noPermission, `the role ${role} is not allowed to do this`);
  };
  const received = (fields: FormFields, file: TakenFile | undefined): ReceivedForm<R> => {
    const result = read(fields);
    if (!result.ok) throw new ApiError(Code.parameterError, result.message, null, result.details);
    if (!file || isUnfilled(file)) throw inputError(field, 'is required');
    if (file.blob.size === 0) throw new ApiError(Code.uploadFailed, 'the file is empty');
    return { form: result.value as FormOf<R>, ...file };
  };
  return async (call: FormCall<R>, request: FastifyRequest): Promise<DataOf<R>> => {
    const expected = Number(request.headers['content-length'] ?? 0);
    const take = async (fileName: string, content: Readable, before: FormFields): Promise<TakenFile> => {
      await refuseEarly(call, before, fileName);
      return { fileName, blob: await handler.stage(call, { content, maxBytes, expected }) };
    };
    const formShape = { names, fileField: field, maxBytes, stallMilliseconds };
    const { fields, file } = await readForm(request.raw, formShape, take, ({ blob }) => blob.discard());
    try {
      await checkAgain(request);
      return await handler.add(call, received(fields, file));
    } finally {
      await file?.blob.discard();
    }
  };
}

/** Form that a browser sends if no file was chosen. */
const isUnfilled = ({ fileName, blob }: TakenFile): boolean => fileName === '' && blob.size === 0;

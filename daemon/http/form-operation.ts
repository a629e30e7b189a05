/** An operation whose input is a form with a file. */
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../src/contract/codes.ts';
import type { DataOf, FilePart, FormOf, ParamsOf, RouteShape } from '../../src/contract/define.ts';
import { compileReader } from '../../src/contract/validate.ts';
import type { StagedBlob } from '../blobs/blobs.ts';
import type { Context } from '../services/context.ts';
import { drainRefused } from './drain.ts';
import { besideFile, type Fields, readForm, requireForm } from './multipart.ts';
import { type OperationParts, operation } from './operation.ts';

type FormRoute = RouteShape & { readonly form: NonNullable<RouteShape['form']>; readonly file: FilePart };

/** Who asks for what. */
export interface FormCall<R> {
  readonly context: Context;
  readonly params: ParamsOf<R>;
}

/** A form that has arrived whole. `fileName` is as the client gave it; empty where it gave none. */
export interface Received<R> {
  readonly form: FormOf<R>;
  readonly fileName: string;
  readonly blob: StagedBlob;
}

export interface FormHandler<R> {
  /** Refuses before the body is read. */
  before?(call: FormCall<R>): Promise<void>;
  /** Refuses before the file is read, where the fields before it are all it takes; `add` is held to the same rules. */
  early?(form: FormOf<R>, fileName: string): Promise<void>;
  /** Puts the file aside. `expected` is the length of the whole body, 0 where it is not known. */
  stage(content: Readable, maxBytes: number, expected: number): Promise<StagedBlob>;
  /** What was received and is not kept by the end is removed. */
  add(call: FormCall<R>, received: Received<R>): Promise<DataOf<R>>;
}

export interface FormTimes {
  /** Milliseconds without a byte after which a client is given up. */
  readonly stall: number;
  /** Milliseconds for which the rest of a refused body is taken. */
  readonly drain: number;
}
const usualTimes: FormTimes = { stall: 120_000, drain: 120_000 };

export function formOperation<const R extends FormRoute>(
  app: FastifyInstance,
  parts: OperationParts & { readonly formTimes?: FormTimes },
  shape: R,
  handler: FormHandler<R>,
): void {
  const times = parts.formTimes ?? usualTimes;
  const read = compileReader(shape.form, 'text');
  const formShape = {
    names: new Set(Object.keys(shape.form.properties)),
    fileField: shape.file.field,
    maxBytes: shape.file.maxBytes,
    stallMilliseconds: times.stall,
  };
  // A scope of its own: everywhere else a multipart body is of the wrong type.
  app.register(async scope => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    drainRefused(scope, { bytes: shape.file.maxBytes + 2 * besideFile, milliseconds: times.drain });
    operation(scope, parts, shape, async ({ context, params, request }) => {
      const call: FormCall<R> = { context, params };
      requireForm(request.raw);
      await handler.before?.(call);
      const take = async (fileName: string, content: Readable, before: Fields) => {
        await refuseEarly(before, fileName);
        const expected = Number(request.headers['content-length'] ?? 0);
        return { fileName, blob: await handler.stage(content, shape.file.maxBytes, expected) };
      };
      const { fields, file } = await readForm(request.raw, formShape, take, ({ blob }) => blob.discard());
      try {
        const outcome = read(fields);
        if (!outcome.ok) throw new ApiError(1001, outcome.message);
        if (!file || isUnfilled(file)) throw new ApiError(1001, `${shape.file.field} is required`);
        if (file.blob.size === 0) throw new ApiError(4002, 'the file is empty');
        return await handler.add(call, { form: outcome.value as FormOf<R>, ...file });
      } finally {
        await file?.blob.discard();
      }
    });
  });

  /** A field that is still missing may follow the file; one that is there and wrong stays so. */
  async function refuseEarly(before: Fields, fileName: string): Promise<void> {
    const outcome = read(before);
    if (outcome.ok) await handler.early?.(outcome.value as FormOf<R>, fileName);
    else if (before[outcome.field]) throw new ApiError(1001, outcome.message);
  }
}

/** What a browser sends for a file that nobody chose. */
const isUnfilled = ({ fileName, blob }: { readonly fileName: string; readonly blob: StagedBlob }): boolean =>
  fileName === '' && blob.size === 0;

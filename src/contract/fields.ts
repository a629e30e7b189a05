/** Builders for the fields of requests and answers: TypeBox schemas that carry the text rule of a field with them. */
import { type TSchema, type TUnsafe, Type } from 'typebox';
import type { TextKind } from './text.ts';

interface FieldOptions {
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

interface TextOptions extends FieldOptions {
  readonly pattern?: string;
  /** What the pattern asks for, in words that follow "must be". */
  readonly shape?: string;
  readonly minLength?: number;
}

/** Keyword of the schemas: see `TextKind`. */
export const TEXT = 'x-text';
/** Keyword: what the value must be, in words; used in messages in place of the pattern. */
export const SHAPE = 'x-shape';
/** Keyword of an array whose items are judged one by one by the operation. */
export const EACH = 'x-each';
/** Keyword of a query parameter: another name of the parameter it names, which wins. */
export const ALIAS = 'x-alias';

function text(kind: TextKind, maxLength: number, { shape, minLength = 1, ...options }: TextOptions = {}) {
  return Type.String({
    minLength,
    maxLength,
    ...options,
    [TEXT]: kind,
    ...(shape ? { [SHAPE]: shape } : {}),
  });
}

/** One line of text, trimmed. */
export const line = (maxLength: number, options?: TextOptions) => text('line', maxLength, options);
/** Text of several lines, trimmed. */
export const prose = (maxLength: number, options?: TextOptions) => text('prose', maxLength, options);
/** Characters of a text that the operation judges: far more than any id, code or password has, and cheap to look at. */
const MAX_JUDGED = 1024;
/** A text that the operation itself judges (an id, an activation code): trimmed and not empty, nothing more. */
export const token = (options?: TextOptions) => text('token', MAX_JUDGED, options);
/** A secret: taken as it is. */
export const secret = (length: { min: number; max?: number }, options?: TextOptions) =>
  text('raw', length.max ?? MAX_JUDGED, { ...options, minLength: length.min });

export const oneOf = <const V extends readonly string[]>(values: V, options: FieldOptions = {}): TUnsafe<V[number]> =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options });

/** The value or null. */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

/** An ISO 8601 UTC timestamp with milliseconds. */
export const timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-03-01T08:30:00.000Z'] });

/** A text in an answer: whatever was stored. */
export const shown = (description: string, ...examples: unknown[]) =>
  Type.String({ description, ...(examples.length ? { examples } : {}) });

export const count = (description: string, ...examples: unknown[]) =>
  Type.Integer({ minimum: 0, description, ...(examples.length ? { examples } : {}) });

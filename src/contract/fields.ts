/** Builders for the fields of requests and responses: TypeBox schemas that carry the text rule of a field with them. */
import { type TSchema, type TUnsafe, Type } from 'typebox';
import { tagBounds } from './limits.ts';
import { type TagChanges, type Tags, tagNameWords } from './tags.ts';
import type { TextKind } from './text.ts';

interface FieldOptions {
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

interface TextOptions extends FieldOptions {
  /** JSON Schema pattern of the whole value. Linear: no two adjacent repetitions match the same text. */
  readonly pattern?: string;
  /** Requirement of the pattern, in words that follow "must be". */
  readonly shape?: string;
  /** Characters; 1 if absent. */
  readonly minLength?: number;
}

/** Schema keyword of a text: its `TextKind`. */
export const TEXT = 'x-text';
/** Schema keyword of a text: what the value must be, in words. Messages use it instead of the pattern. */
export const SHAPE = 'x-shape';
/** Schema keyword of an array: the operation validates the items one by one. */
export const EACH = 'x-each';
/** Schema keyword of any value: the operation validates it. */
export const JUDGED = 'x-judged';
/** Schema keyword of an object whose members have any names: most characters of a name, which is text of one line. */
export const NAMES = 'x-names';
/** Schema keyword of a query parameter: it is another name of the parameter given here, which takes precedence. */
export const ALIAS = 'x-alias';

/** Schema keyword of a text: it is a comma-separated list of the values given here, and is read as an array of them. */
export const LIST = 'x-list';
/** Schema keyword of a text: it is an ISO 8601 time with a zone, and is read as a `Date`. */
export const INSTANT = 'x-instant';
/** Schema keyword of an object: its properties are tags, of a new device or of a change. */
export const TAGS = 'x-tags';
/** Schema keyword of a query parameter: a text `name:value`, which may be repeated; read as an array of such texts. */
export const TAG_FILTER = 'x-tag-filter';

function text(kind: TextKind, maxLength: number, { shape, minLength = 1, ...options }: TextOptions = {}) {
  return Type.String({
    minLength,
    maxLength,
    ...options,
    [TEXT]: kind,
    ...(shape ? { [SHAPE]: shape } : {}),
  });
}

/** A text of one line, trimmed; at most `maxLength` characters. */
export const line = (maxLength: number, options?: TextOptions) => text('line', maxLength, options);
/** A text of several lines, trimmed; at most `maxLength` characters. */
export const prose = (maxLength: number, options?: TextOptions) => text('prose', maxLength, options);
/** Longest text that an operation judges itself, in characters: more than any id, code or password has. */
const MAX_JUDGED = 1024;
/** A text that the operation judges itself (an id, an activation code): trimmed, not empty. */
export const token = (options?: TextOptions, maxLength = MAX_JUDGED) => text('token', maxLength, options);
/** A secret: taken exactly as sent. Lengths in characters. */
export const secret = (length: { min: number; max?: number }, options?: TextOptions) =>
  text('raw', length.max ?? MAX_JUDGED, { ...options, minLength: length.min });

/** Bytes as base64url without padding; at most `most` of them. */
export const base64url = (most: number, description: string) =>
  line(Math.ceil((most * 4) / 3), {
    pattern: '^[A-Za-z0-9_-]+$',
    shape: 'base64url without padding',
    description: `${description}; base64url, at most ${most} bytes`,
  });

/** Exactly this many bytes as base64url without padding. */
export function bytesOf(count: number, description: string) {
  const length = Math.ceil((count * 4) / 3);
  return line(length, {
    minLength: length,
    pattern: '^[A-Za-z0-9_-]+$',
    shape: `${count} bytes as base64url without padding`,
    description: `${description}: ${count} bytes as base64url`,
    examples: ['A'.repeat(length)],
  });
}

/** One of these texts. */
export const oneOf = <const V extends readonly string[]>(values: V, options: FieldOptions = {}): TUnsafe<V[number]> =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options });

/** A comma-separated list of these texts, as one parameter of a query. Read as an array of at least one of them. */
export const listOf = <const V extends readonly string[]>(values: V, description: string): TUnsafe<V[number][]> =>
  Type.Unsafe<V[number][]>({
    type: 'string',
    description: `${description}; comma-separated: ${values.join(', ')}`,
    [LIST]: values,
  });

/** A point in time in a query: ISO 8601 with a zone. Read as a `Date`. */
export const instant = (description: string): TUnsafe<Date> =>
  Type.Unsafe<Date>({ type: 'string', format: 'date-time', description, [INSTANT]: true });

const tagValue = { type: 'string', minLength: 1, maxLength: tagBounds.valueLength } as const;
const tagRules = `names: ${tagNameWords}; values: one line`;

/** The tags of a device, in a request and in a response. */
export const tagsOf = (description: string): TUnsafe<Tags> =>
  Type.Unsafe<Tags>({
    type: 'object',
    maxProperties: tagBounds.perDevice,
    additionalProperties: tagValue,
    description: `${description}; ${tagRules}`,
    examples: [{ lot: '7' }],
    [TAGS]: 'all',
  });

/** A change of tags: a null value removes the tag. */
export const tagChanges = (description: string): TUnsafe<TagChanges> =>
  Type.Unsafe<TagChanges>({
    type: 'object',
    additionalProperties: { anyOf: [tagValue, { type: 'null' }] },
    description: `${description}; ${tagRules}`,
    examples: [{ lot: '7', shelf: null }],
    [TAGS]: 'changes',
  });

/** A query parameter `name:value` that may be repeated. Read as an array of these texts, each once. */
export const tagFilter = (description: string): TUnsafe<string[]> =>
  Type.Unsafe<string[]>({
    type: 'array',
    items: { type: 'string', examples: ['lot:7'] },
    minItems: 1,
    maxItems: tagBounds.perDevice,
    description,
    examples: ['lot:7'],
    [TAG_FILTER]: true,
  });

/** The value or null. */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

/** A member that a request can leave out; null stands for none, too. */
export const maybe = <S extends TSchema>(schema: S) => Type.Optional(nullable(schema));

/** Yes or no. */
export const boolean = (description: string) => Type.Boolean({ description });

/** A whole number within bounds, both inclusive. */
export const whole = (
  description: string,
  { min, max, default: usual }: { readonly min: number; readonly max?: number; readonly default?: number },
) =>
  Type.Integer({
    minimum: min,
    ...(max === undefined ? {} : { maximum: max }),
    ...(usual === undefined ? {} : { default: usual }),
    description,
  });

/** An ISO 8601 UTC timestamp with milliseconds, in a response. */
export const timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-03-01T08:30:00.000Z'] });

/** A text in a response: returned as it was stored. */
export const shown = (description: string, ...examples: unknown[]) =>
  Type.String({ description, ...(examples.length ? { examples } : {}) });

/** A whole number from 0, in a response. */
export const count = (description: string, ...examples: unknown[]) =>
  Type.Integer({ minimum: 0, description, ...(examples.length ? { examples } : {}) });

/** Finding of a check of another service. */
export const findings = {
  ok: Type.Boolean(),
  findings: Type.Array(
    Type.Object({
      check: shown('what was looked at', 'connection'),
      ok: Type.Boolean(),
      detail: shown('what was found'),
    }),
  ),
} as const;

/**
 * Reads an input against a schema of the contract: trims texts, checks, names the field that is wrong. Made for the flat
 * objects the interface takes, and compiled to closures because a batch reads 10,000 of them. Unknown fields are dropped.
 */
import type { Static, TObject, TSchema } from 'typebox';
import { ALIAS, EACH, SHAPE, TEXT } from './fields.ts';
import { fitsUntrimmed, type TextKind, textFault, textLength, trimText } from './text.ts';

/** `json`: values have their types. `text`: every value is a text that stands for one (query, form field, CSV cell). */
export type Source = 'json' | 'text';

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly field: string; readonly message: string };

interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly FieldSchema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly [TEXT]?: TextKind;
  readonly [SHAPE]?: string;
  readonly [EACH]?: boolean;
  readonly [ALIAS]?: string;
}

/** Wrong: a message that follows the field's name. */
class Fault {
  readonly words: string;
  constructor(words: string) {
    this.words = words;
  }
}
/** `undefined` stands for "as if it were not there". */
type Check = (value: unknown) => unknown | Fault;

export function compileReader<S extends TObject>(
  schema: S,
  source: Source = 'json',
): (input: unknown) => Outcome<Static<S>> {
  const required = new Set<string>((schema as { required?: string[] }).required ?? []);
  const fields = Object.entries(schema.properties as Record<string, TSchema>).map(([name, field]) =>
    compileField(name, field as unknown as FieldSchema, required.has(name), source),
  );
  return input => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return { ok: false, field: '', message: 'a JSON object is required' };
    const given = input as Record<string, unknown>;
    const value: Record<string, unknown> = {};
    for (const field of fields) {
      const fault = field(given, value);
      if (fault) return { ok: false, ...fault };
    }
    return { ok: true, value: value as Static<S> };
  };
}

type FieldReader = (
  given: Record<string, unknown>,
  into: Record<string, unknown>,
) => { field: string; message: string } | null;

function compileField(name: string, schema: FieldSchema, required: boolean, source: Source): FieldReader {
  const check = compileCheck(schema, source);
  const target = schema[ALIAS] ?? name;
  const nullable = schema.anyOf?.some(option => option.type === 'null') ?? false;
  return (given, into) => {
    const raw = Object.hasOwn(given, name) ? given[name] : undefined;
    if (target !== name && !isAbsent(given[target], source)) return null;
    const value = isAbsent(raw, source) ? (raw === null ? null : undefined) : check(raw);
    if (value instanceof Fault) return { field: name, message: `${name} ${value.words}` };
    if (value === undefined || value === null) {
      if (required) return { field: name, message: `${name} is required` };
      if (schema.default !== undefined) into[name] = schema.default;
      else if (value === null && nullable) into[name] = null;
      return null;
    }
    into[target] = value;
    return null;
  };
}

/** In a form or a query an empty value is one that was not filled in. */
function isAbsent(value: unknown, source: Source): boolean {
  return value === undefined || value === null || (source === 'text' && value === '');
}

function compileCheck(schema: FieldSchema, source: Source): Check {
  const inner = schema.anyOf?.find(option => option.type !== 'null');
  if (inner) return compileCheck(inner, source);
  if (schema.enum) return enumCheck(schema.enum);
  switch (schema.type) {
    case 'string':
      return textCheck(schema);
    case 'integer':
      return integerCheck(schema, source);
    case 'boolean':
      return source === 'text' ? booleanWord : booleanCheck;
    case 'array':
      return arrayCheck(schema);
    default:
      return value => value;
  }
}

function enumCheck(values: readonly string[]): Check {
  const set = new Set<unknown>(values);
  const fault = new Fault(`must be one of ${values.join(', ')}`);
  return value => (set.has(value) ? value : fault);
}

const notText = new Fault('must be a string');

/** The text rule alone, for a text that is not a field of a body (a form part, a command-line option). */
function textCheck(schema: FieldSchema): Check {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  const kind = schema[TEXT] ?? 'raw';
  const regex = pattern ? new RegExp(pattern, 'u') : null;
  const tooLong = new Fault(`is longer than ${maxLength} characters`);
  return value => {
    if (typeof value !== 'string') return notText;
    if (!fitsUntrimmed(value, maxLength)) return tooLong;
    const text = kind === 'raw' ? value : trimText(value);
    if (text === '') return null;
    const characters = textFault(text, kind);
    if (characters) return new Fault(characters);
    const length = text.length > minLength && text.length <= maxLength ? text.length : textLength(text);
    if (length > maxLength) return tooLong;
    if (length < minLength) return new Fault(`is shorter than ${minLength} characters`);
    if (regex && !regex.test(text)) return new Fault(`must be ${schema[SHAPE] ?? `of the form ${pattern}`}`);
    return text;
  };
}

function integerCheck({ minimum, maximum }: FieldSchema, source: Source): Check {
  const words = new Fault(
    maximum === undefined
      ? `must be a whole number${minimum === undefined ? '' : ` of at least ${minimum}`}`
      : `must be a whole number from ${minimum ?? 0} to ${maximum}`,
  );
  return value => {
    const number =
      source === 'json' ? value : typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : null;
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) return words;
    return number < (minimum ?? -Infinity) || number > (maximum ?? Infinity) ? words : number;
  };
}

const notBoolean = new Fault('must be true or false');
const booleanCheck: Check = value => (typeof value === 'boolean' ? value : notBoolean);
const booleanWord: Check = value => {
  if (typeof value !== 'string' || !fitsUntrimmed(value, 'false'.length)) return notBoolean;
  const word = trimText(value).toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : notBoolean;
};

function arrayCheck({ minItems = 0, maxItems = Number.POSITIVE_INFINITY }: FieldSchema): Check {
  return value => {
    if (!Array.isArray(value)) return new Fault('must be an array');
    if (value.length < minItems || value.length > maxItems)
      return new Fault(`must hold ${minItems} to ${maxItems} items`);
    return value;
  };
}

/**
 * Reads an input against a schema of the contract: trims texts, checks values, and names the first field that is wrong. Schemas are compiled to closures because a batch has 10,000 items. A keyword that is
 * not implemented here throws when the schema is compiled, so that no rule of the contract is skipped silently.
 */
import type { Static, TObject, TSchema } from 'typebox';
import { ALIAS, EACH, INSTANT, JUDGED, LIST, NAMES, SHAPE, TAG_FILTER, TAGS, TEXT } from './fields.ts';
import { parseInstant } from './instant.ts';
import { readTagChanges, readTagFilter, readTags, TagFault } from './tags.ts';
import { fitsUntrimmed, type TextKind, textFault, textLength, trimText } from './text.ts';

/** `json`: values have their types. `text`: every value is a text that represents one (query, form field, CSV cell). */
export type InputFormat = 'json' | 'text';

/** The value that was read, without unknown fields; or the first field that is wrong and a message that names it. */
export type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** Member of an input that cannot be read at all: the reason. A symbol, so no JSON has such a member. */
export const UNREADABLE = Symbol('unreadable');

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
  readonly maxProperties?: number;
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: FieldSchema;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly [TEXT]?: TextKind;
  readonly [SHAPE]?: string;
  readonly [EACH]?: boolean;
  readonly [JUDGED]?: boolean;
  readonly [NAMES]?: number;
  readonly [LIST]?: readonly string[];
  readonly [INSTANT]?: true;
  readonly [ALIAS]?: string;
  readonly [TAGS]?: 'all' | 'changes';
  readonly [TAG_FILTER]?: true;
}

/** The keywords that the check of each kind of schema implements. */
const keywords: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required'],
  nullable: ['anyOf'],
  choice: ['anyOf'],
  record: ['maxProperties', 'additionalProperties', NAMES],
  null: [],
  enum: ['enum'],
  string: ['minLength', 'maxLength', 'pattern', TEXT, SHAPE],
  list: [LIST],
  instant: ['format', INSTANT],
  integer: ['minimum', 'maximum'],
  boolean: [],
  array: ['items', 'minItems', 'maxItems', EACH],
  tags: ['maxProperties', 'additionalProperties', TAGS],
  tagFilter: ['items', 'minItems', 'maxItems', TAG_FILTER],
};
/** Keywords that any schema may have: they describe the field, or `compileField` handles them. */
const always: readonly string[] = ['type', 'description', 'examples', 'default', ALIAS];

/** A message that follows the field's name. */
class FieldFault {
  readonly message: string;
  /** What is wrong within the field: `.name` of a member, `[0]` of an item. */
  readonly at: string;
  constructor(message: string, at = '') {
    this.message = message;
    this.at = at;
  }
}
/** Returns the value as it was read, a fault, or null for a text that is empty after trimming. */
type ValidateCheck = (value: unknown) => unknown | FieldFault;

/** Compiles a schema to a function that reads an input. Throws if a keyword or a type of the schema is not implemented. */
export function compileReader<S extends TObject>(
  schema: S,
  format: InputFormat = 'json',
): (input: unknown) => ReadResult<Static<S>> {
  requireKeywords('the input', 'object', schema);
  const required = new Set<string>((schema as { required?: string[] }).required ?? []);
  const fields = Object.entries(schema.properties as Record<string, TSchema>).map(([name, field]) =>
    compileField(name, field as unknown as FieldSchema, required.has(name), format),
  );
  return input => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return { ok: false, field: '', message: 'a JSON object is required' };
    const given = input as Record<string, unknown> & { readonly [UNREADABLE]?: string };
    if (given[UNREADABLE] !== undefined) return { ok: false, field: '', message: given[UNREADABLE] };
    const value: Record<string, unknown> = {};
    for (const field of fields) {
      const fault = field(given, value);
      if (fault) return { ok: false, ...fault };
    }
    return { ok: true, value: value as Static<S> };
  };
}

function requireKeywords(name: string, kind: string, schema: object): void {
  if (kind === 'judged') return;
  const known = keywords[kind];
  if (!known) throw new Error(`${name}: schemas of type ${kind} cannot be validated`);
  const unknown = Object.keys(schema).find(keyword => !known.includes(keyword) && !always.includes(keyword));
  if (unknown !== undefined) throw new Error(`${name}: the schema keyword ${unknown} is not validated for ${kind}`);
}

type FieldReader = (
  given: Record<string, unknown>,
  into: Record<string, unknown>,
) => { field: string; message: string } | null;

function compileField(name: string, schema: FieldSchema, required: boolean, format: InputFormat): FieldReader {
  const check = compileCheck(name, schema, format);
  const target = schema[ALIAS] ?? name;
  const nullable = kindOf(schema) === 'nullable';
  return (given, into) => {
    const raw = Object.hasOwn(given, name) ? given[name] : undefined;
    if (target !== name && !isAbsent(given[target], format)) return null;
    const value = isAbsent(raw, format) ? (raw === null ? null : undefined) : check(raw);
    if (value instanceof FieldFault) {
      const field = name + value.at;
      return { field, message: `${field} ${value.message}` };
    }
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

/** In a form or a query, an empty value is one that was not filled in. */
function isAbsent(value: unknown, format: InputFormat): boolean {
  return value === undefined || value === null || (format === 'text' && value === '');
}

function kindOf(schema: FieldSchema): string {
  if (schema[JUDGED]) return 'judged';
  if (schema.anyOf) return schema.anyOf.some(option => option.type === 'null') ? 'nullable' : 'choice';
  if (schema.enum) return 'enum';
  if (schema[LIST]) return 'list';
  if (schema[TAGS]) return 'tags';
  if (schema[TAG_FILTER]) return 'tagFilter';
  if (schema[NAMES]) return 'record';
  return schema[INSTANT] ? 'instant' : String(schema.type);
}

function compileCheck(name: string, schema: FieldSchema, format: InputFormat): ValidateCheck {
  const kind = kindOf(schema);
  requireKeywords(name, kind, schema);
  switch (kind) {
    case 'nullable':
      return compileCheck(name, valueOrNull(name, schema.anyOf!), format);
    case 'enum':
      return enumCheck(schema.enum!);
    case 'string':
      return textCheck(schema);
    case 'list':
      return listCheck(schema[LIST]!);
    case 'instant':
      return instantCheck;
    case 'tags':
      return tagCheck(schema[TAGS] === 'all' ? readTags : readTagChanges);
    case 'tagFilter':
      return tagCheck(readTagFilter);
    case 'integer':
      return integerCheck(schema, format);
    case 'boolean':
      return format === 'text' ? booleanWord : booleanCheck;
    case 'judged':
      return value => value;
    case 'array':
      return arrayCheck(name, schema, format);
    case 'object':
      return objectCheck(schema, format);
    case 'record':
      return recordCheck(name, schema, format);
    case 'choice':
      return choiceCheck(name, schema.anyOf!, format);
    default:
      throw new Error(`${name}: a field of type ${kind} cannot be validated`);
  }
}

/** The schema of the value in a union of a value and null. */
function valueOrNull(name: string, options: readonly FieldSchema[]): FieldSchema {
  const [value, none] = options;
  if (options.length !== 2 || none?.type !== 'null') throw new Error(`${name}: only a union with null is validated`);
  return value!;
}

function enumCheck(values: readonly string[]): ValidateCheck {
  const set = new Set<unknown>(values);
  const fault = new FieldFault(`must be one of ${values.join(', ')}`);
  return value => (set.has(value) ? value : fault);
}

/** Longest text of a list of values, in UTF-16 units: each of them many times. */
const MAX_LIST = 1024;

function listCheck(values: readonly string[]): ValidateCheck {
  const set = new Set<string>(values);
  const fault = new FieldFault(`must be one or more of ${values.join(', ')}, comma-separated`);
  return value => {
    if (typeof value !== 'string' || value.length > MAX_LIST) return fault;
    const found = value.split(',').map(trimText);
    return found.every(text => set.has(text)) ? [...new Set(found)] : fault;
  };
}

const notInstant = new FieldFault('must be a time with a zone, such as 2026-03-01T08:30:00Z');
const instantCheck: ValidateCheck = value =>
  typeof value === 'string' ? (parseInstant(value) ?? notInstant) : notInstant;

const notText = new FieldFault('must be a string');

function textCheck(schema: FieldSchema): ValidateCheck {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  const kind = schema[TEXT] ?? 'raw';
  const regex = pattern ? new RegExp(pattern, 'u') : null;
  const tooLong = new FieldFault(`is longer than ${maxLength} characters`);
  return value => {
    if (typeof value !== 'string') return notText;
    if (!fitsUntrimmed(value, maxLength)) return tooLong;
    const text = kind === 'raw' ? value : trimText(value);
    if (text === '') return null;
    const characters = textFault(text, kind);
    if (characters) return new FieldFault(characters);
    const length = text.length > minLength && text.length <= maxLength ? text.length : textLength(text);
    if (length > maxLength) return tooLong;
    if (length < minLength) return new FieldFault(`is shorter than ${minLength} characters`);
    if (regex && !regex.test(text)) return new FieldFault(`must be ${schema[SHAPE] ?? `of the form ${pattern}`}`);
    return text;
  };
}

function integerCheck({ minimum, maximum }: FieldSchema, format: InputFormat): ValidateCheck {
  const fault = new FieldFault(
    maximum === undefined
      ? `must be a whole number${minimum === undefined ? '' : ` of at least ${minimum}`}`
      : `must be a whole number from ${minimum ?? 0} to ${maximum}`,
  );
  return value => {
    const number =
      format === 'json' ? value : typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : null;
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) return fault;
    return number < (minimum ?? -Infinity) || number > (maximum ?? Infinity) ? fault : number;
  };
}

const notObject = new FieldFault('must be a JSON object');
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function objectCheck(schema: FieldSchema, format: InputFormat): ValidateCheck {
  const read = compileReader(schema as TObject, format);
  return value => {
    if (!isObject(value)) return notObject;
    const result = read(value);
    if (result.ok) return result.value;
    const { field, message } = result;
    return new FieldFault(message.slice(field.length + 1), `.${field}`);
  };
}

/** An object whose members have any names, and values of one kind. */
function recordCheck(name: string, schema: FieldSchema, format: InputFormat): ValidateCheck {
  const { maxProperties = Number.POSITIVE_INFINITY } = schema;
  const nameCheck = textCheck({ maxLength: schema[NAMES]!, [TEXT]: 'line' });
  const check = compileCheck(name, schema.additionalProperties!, format);
  return value => {
    if (!isObject(value) || Object.keys(value).length > maxProperties)
      return new FieldFault(`must be an object of at most ${maxProperties} values`);
    for (const [member, each] of Object.entries(value)) {
      const wrongName = nameCheck(member);
      if (wrongName instanceof FieldFault) return new FieldFault(`has a name that ${wrongName.message}`);
      if ((check(each) ?? notText) instanceof FieldFault) return new FieldFault('has a value of another type');
    }
    return value;
  };
}

/** One of several objects, which a member distinguishes: it has one value in each of them. */
function choiceCheck(name: string, options: readonly FieldSchema[], format: InputFormat): ValidateCheck {
  const mark = Object.entries(options[0]?.properties ?? {}).find(([, field]) => field.enum?.length === 1)?.[0];
  const marked = options.map(option => [option.properties?.[mark ?? '']?.enum?.[0], option] as const);
  if (mark === undefined || marked.some(([value]) => value === undefined))
    throw new Error(`${name}: a member with one value has to distinguish the objects of a union`);
  const checks = new Map<unknown, ValidateCheck>(marked.map(([value, option]) => [value, objectCheck(option, format)]));
  const fault = new FieldFault(`must be one of ${[...checks.keys()].join(', ')}`, `.${mark}`);
  return value => (isObject(value) ? (checks.get(value[mark])?.(value) ?? fault) : notObject);
}

const notBoolean = new FieldFault('must be true or false');
const booleanCheck: ValidateCheck = value => (typeof value === 'boolean' ? value : notBoolean);
const booleanWord: ValidateCheck = value => {
  if (typeof value !== 'string' || !fitsUntrimmed(value, 'false'.length)) return notBoolean;
  const word = trimText(value).toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : notBoolean;
};

const tagCheck =
  (read: (value: unknown) => unknown): ValidateCheck =>
  value => {
    const found = read(value);
    return found instanceof TagFault ? new FieldFault(found.message, found.tag === null ? '' : `.${found.tag}`) : found;
  };

/** With `EACH` the operation checks the items: only those that are wrong fail. */
function arrayCheck(name: string, schema: FieldSchema, format: InputFormat): ValidateCheck {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
  if (!schema[EACH] && !items) throw new Error(`${name}: an array has no schema of its items`);
  const check = schema[EACH] ? null : compileCheck(`${name}[]`, items!, format);
  return value => {
    if (!Array.isArray(value)) return new FieldFault('must be an array');
    if (value.length < minItems || value.length > maxItems)
      return new FieldFault(`must have ${minItems} to ${maxItems} items`);
    return check ? checkItems(value, check) : value;
  };
}

const emptyItem = new FieldFault('must not be empty');

function checkItems(items: readonly unknown[], check: ValidateCheck): readonly unknown[] | FieldFault {
  const read: unknown[] = [];
  for (const [i, item] of items.entries()) {
    const found = check(item) ?? emptyItem;
    if (found instanceof FieldFault) return new FieldFault(found.message, `[${i}]${found.at}`);
    read.push(found);
  }
  return read;
}

/**
 * Reads an input against a schema of the contract: trims texts, checks values, and names the first field that is wrong. Schemas
 * are compiled to closures because a batch has 10,000 items. A keyword that is not implemented here throws when the schema is
 * compiled, so that no rule of the contract is skipped silently.
 */
import type { Static, TObject, TSchema } from 'typebox';
import {
  type FieldCheck,
  FieldFault,
  type FieldKind,
  type FieldSchema,
  type InputFormat,
  notText,
  textCheck,
  valueKinds,
} from './checks.ts';
import type { InputProblem } from './codes.ts';
import { ALIAS, EACH, INSTANT, JUDGED, LIST, NAMES, TAG_FILTER, TAGS, TEXT } from './fields.ts';
import { isObject } from './json-object.ts';

/** The value that was read, without unknown fields; or the first field that is wrong, a message that names it, and all problems. */
type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly field: string;
      readonly message: string;
      readonly details: readonly InputProblem[];
    };

function refused(details: readonly InputProblem[]): ReadResult<never> {
  const { field, reason } = details[0]!;
  return { ok: false, field, message: field === '' ? reason : `${field} ${reason}`, details };
}

/** Member of an input that cannot be read at all: the reason. A symbol, so no JSON has such a member. */
export const UNREADABLE = Symbol('unreadable');

/** Keywords that any schema may have: they describe the field, or `compileField` handles them. */
const always: readonly string[] = ['type', 'description', 'examples', 'default', ALIAS];

/** Compiles a schema to a function that reads an input. Throws if a keyword or a type of the schema is not implemented. */
export function compileReader<S extends TObject>(
  schema: S,
  format: InputFormat = 'json',
): (input: unknown) => ReadResult<Static<S>> {
  kindFor('the input', 'object', schema);
  const required = new Set<string>((schema as { required?: string[] }).required ?? []);
  const fields = Object.entries(schema.properties as Record<string, TSchema>).map(([name, field]) =>
    compileField(name, field as unknown as FieldSchema, required.has(name), format),
  );
  return input => {
    if (!isObject(input)) return refused([{ field: '', reason: 'a JSON object is required' }]);
    const given = input as Record<string, unknown> & { readonly [UNREADABLE]?: string };
    if (given[UNREADABLE] !== undefined) return refused([{ field: '', reason: given[UNREADABLE] }]);
    const value: Record<string, unknown> = {};
    let details: InputProblem[] | null = null;
    for (const field of fields) {
      const fault = field(given, value);
      if (fault) details = [...(details ?? []), ...problemsOf(fault)];
    }
    return details ? refused(details) : { ok: true, value: value as Static<S> };
  };
}

/** Throws if the check of this kind does not implement the schema. */
function kindFor(name: string, kind: string, schema: object): FieldKind {
  const found = Object.hasOwn(kinds, kind) ? kinds[kind]! : null;
  if (!found) throw new Error(`${name}: schemas of type ${kind} cannot be validated`);
  const { keywords } = found;
  const unknown = Object.keys(schema).find(
    keyword => !(keywords?.includes(keyword) ?? true) && !always.includes(keyword),
  );
  if (unknown !== undefined) throw new Error(`${name}: the schema keyword ${unknown} is not validated for ${kind}`);
  return found;
}

type FieldReader = (given: Record<string, unknown>, into: Record<string, unknown>) => FieldFault | null;

const problemsOf = (fault: FieldFault): InputProblem[] =>
  [fault, ...fault.others].map(({ at: field, message: reason, allowed }) => ({
    field,
    reason,
    ...(allowed && { allowed }),
  }));

function compileField(name: string, schema: FieldSchema, required: boolean, format: InputFormat): FieldReader {
  const check = compileCheck(schema, format, name);
  const target = schema[ALIAS] ?? name;
  const nullable = kindOf(schema) === 'nullable';
  return (given, into) => {
    const raw = Object.hasOwn(given, name) ? given[name] : undefined;
    if (target !== name && !isAbsent(given[target], format)) return null;
    const value = isAbsent(raw, format) ? (raw === null ? null : undefined) : check(raw);
    if (value instanceof FieldFault) return value.within(name);
    if (value === undefined || value === null) {
      if (required) return new FieldFault('is required', name, schema.enum);
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

function compileCheck(schema: FieldSchema, format: InputFormat, name: string): FieldCheck {
  return kindFor(name, kindOf(schema), schema).check(schema, format, name);
}

/** The schema of the value in a union of a value and null. */
function valueOrNull(name: string, options: readonly FieldSchema[]): FieldSchema {
  const [value, none] = options;
  if (options.length !== 2 || none?.type !== 'null') throw new Error(`${name}: only a union with null is validated`);
  return value!;
}

const notObject = new FieldFault('must be a JSON object');

function objectCheck(schema: FieldSchema, format: InputFormat): FieldCheck {
  const read = compileReader(schema as TObject, format);
  return value => {
    if (!isObject(value)) return notObject;
    const result = read(value);
    if (result.ok) return result.value;
    const [first, ...others] = result.details.map(
      ({ field, reason, allowed }) => new FieldFault(reason, `.${field}`, allowed),
    );
    return new FieldFault(first!.message, first!.at, first!.allowed, others);
  };
}

/** An object whose members have any names, and values of one kind. */
function recordCheck(schema: FieldSchema, format: InputFormat, name: string): FieldCheck {
  const { maxProperties = Number.POSITIVE_INFINITY } = schema;
  const nameCheck = textCheck({ maxLength: schema[NAMES]!, [TEXT]: 'line' });
  const check = compileCheck(schema.additionalProperties!, format, name);
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
function choiceCheck({ anyOf: options = [] }: FieldSchema, format: InputFormat, name: string): FieldCheck {
  const mark = Object.entries(options[0]?.properties ?? {}).find(([, field]) => field.enum?.length === 1)?.[0];
  const marked = options.map(option => [option.properties?.[mark ?? '']?.enum?.[0], option] as const);
  if (mark === undefined || marked.some(([value]) => value === undefined))
    throw new Error(`${name}: a member with one value has to distinguish the objects of a union`);
  const checks = new Map<unknown, FieldCheck>(marked.map(([value, option]) => [value, objectCheck(option, format)]));
  const values = [...checks.keys()].map(String);
  const fault = new FieldFault(`must be one of ${values.join(', ')}`, `.${mark}`, values);
  return value => (isObject(value) ? (checks.get(value[mark])?.(value) ?? fault) : notObject);
}

/** With `EACH` the operation checks the items: only those that are wrong fail. */
function arrayCheck(schema: FieldSchema, format: InputFormat, name: string): FieldCheck {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
  if (!schema[EACH] && !items) throw new Error(`${name}: an array has no schema of its items`);
  const check = schema[EACH] ? null : compileCheck(items!, format, `${name}[]`);
  return given => {
    // A parameter of a query that is given once is a text.
    const value = format === 'text' && typeof given === 'string' ? [given] : given;
    if (!Array.isArray(value)) return new FieldFault('must be an array');
    if (value.length < minItems || value.length > maxItems)
      return new FieldFault(`must have ${minItems} to ${maxItems} items`);
    return check ? checkItems(value, check) : value;
  };
}

const emptyItem = new FieldFault('must not be empty');

function checkItems(items: readonly unknown[], check: FieldCheck): readonly unknown[] | FieldFault {
  const read: unknown[] = [];
  for (const [i, item] of items.entries()) {
    const found = check(item) ?? emptyItem;
    if (found instanceof FieldFault) return found.within(`[${i}]`);
    read.push(found);
  }
  return read;
}

/** How each kind of schema is checked. */
const kinds: Readonly<Record<string, FieldKind>> = {
  ...valueKinds,
  object: { keywords: ['properties', 'required'], check: objectCheck },
  nullable: {
    keywords: ['anyOf'],
    check: (schema, format, name) => compileCheck(valueOrNull(name, schema.anyOf!), format, name),
  },
  choice: { keywords: ['anyOf'], check: choiceCheck },
  record: { keywords: ['maxProperties', 'additionalProperties', NAMES], check: recordCheck },
  array: { keywords: ['items', 'minItems', 'maxItems', EACH], check: arrayCheck },
};

/** The checks of single values, by the kind of their schema. */
import { ALIAS, EACH, INSTANT, JUDGED, LIST, NAMES, SHAPE, TAG_FILTER, TAGS, TEXT } from './fields.ts';
import { parseInstant } from './instant.ts';
import { readTagChanges, readTagFilter, readTags, TagFault } from './tags.ts';
import { fitsUntrimmed, type TextKind, textFault, textLength, trimText } from './text.ts';

/** `json`: values have their types. `text`: every value is a text that represents one (query, form field, CSV cell). */
export type InputFormat = 'json' | 'text';

/** A schema of a field: what the checks read of it. */
export interface FieldSchema {
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

/** A message that follows the field's name. */
export class FieldFault {
  readonly message: string;
  /** Place of the fault within the field: `.name` of a member, `[0]` of an item. */
  readonly at: string;
  /** The values that the field takes, if they are few. */
  readonly allowed: readonly string[] | undefined;
  /** Further faults of an object, whose places are within the field too. */
  readonly others: readonly FieldFault[];
  constructor(message: string, at = '', allowed?: readonly string[], others: readonly FieldFault[] = []) {
    this.message = message;
    this.at = at;
    this.allowed = allowed;
    this.others = others;
  }

  /** The fault, and those beside it, of the value that has the field as its part. */
  within(place: string): FieldFault {
    const others = this.others.map(other => other.within(place));
    return new FieldFault(this.message, place + this.at, this.allowed, others);
  }
}
/** Returns the value as it was read, a fault, or null for a text that is empty after trimming. */
export type FieldCheck = (value: unknown) => unknown | FieldFault;

/** How the fields of one kind are checked. */
export interface FieldKind {
  /** The keywords that the check implements; null if the operation checks the value, by whichever rules. */
  readonly keywords: readonly string[] | null;
  readonly check: (schema: FieldSchema, format: InputFormat, name: string) => FieldCheck;
}

function enumCheck(values: readonly string[]): FieldCheck {
  const set = new Set<unknown>(values);
  const fault = new FieldFault(`must be one of ${values.join(', ')}`, '', values);
  return value => (set.has(value) ? value : fault);
}

/** Longest text of a list of values, in UTF-16 units: each of them many times. */
const MAX_LIST = 1024;

function listCheck(values: readonly string[]): FieldCheck {
  const set = new Set<string>(values);
  const fault = new FieldFault(`must be one or more of ${values.join(', ')}, comma-separated`, '', values);
  return value => {
    if (typeof value !== 'string' || value.length > MAX_LIST) return fault;
    const found = value.split(',').map(trimText);
    return found.every(text => set.has(text)) ? [...new Set(found)] : fault;
  };
}

const notInstant = new FieldFault('must be a time with a zone, such as 2026-03-01T08:30:00Z');
const instantCheck: FieldCheck = value =>
  typeof value === 'string' ? (parseInstant(value) ?? notInstant) : notInstant;

/** For a value that is not a string. */
export const notText = new FieldFault('must be a string');

/** A text, as the schema describes it. */
export function textCheck(schema: FieldSchema): FieldCheck {
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

function integerCheck({ minimum, maximum }: FieldSchema, format: InputFormat): FieldCheck {
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

const notBoolean = new FieldFault('must be true or false');
const booleanCheck: FieldCheck = value => (typeof value === 'boolean' ? value : notBoolean);
const booleanWord: FieldCheck = value => {
  if (typeof value !== 'string' || !fitsUntrimmed(value, 'false'.length)) return notBoolean;
  const word = trimText(value).toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : notBoolean;
};

const tagCheck =
  (read: (value: unknown) => unknown): FieldCheck =>
  value => {
    const found = read(value);
    return found instanceof TagFault ? new FieldFault(found.message, found.tag === null ? '' : `.${found.tag}`) : found;
  };

/** The kinds of fields whose values have no fields and items that the contract describes. */
export const valueKinds: Readonly<Record<string, FieldKind>> = {
  judged: { keywords: null, check: () => value => value },
  enum: { keywords: ['enum'], check: schema => enumCheck(schema.enum!) },
  string: { keywords: ['minLength', 'maxLength', 'pattern', TEXT, SHAPE], check: textCheck },
  list: { keywords: [LIST], check: schema => listCheck(schema[LIST]!) },
  instant: { keywords: ['format', INSTANT], check: () => instantCheck },
  integer: { keywords: ['minimum', 'maximum'], check: integerCheck },
  boolean: { keywords: [], check: (_, format) => (format === 'text' ? booleanWord : booleanCheck) },
  tags: {
    keywords: ['maxProperties', 'additionalProperties', TAGS],
    check: schema => tagCheck(schema[TAGS] === 'all' ? readTags : readTagChanges),
  },
  tagFilter: { keywords: ['items', 'minItems', 'maxItems', TAG_FILTER], check: () => tagCheck(readTagFilter) },
};

/** Tags of a device: values under names that the organization chooses. Plain functions, for requests and the command line. */
import { isObject } from './json-object.ts';
import { tagBounds } from './limits.ts';
import { fitsUntrimmed, textFault, textLength, trimText } from './text.ts';

/** Values by name. */
export type Tags = Readonly<Record<string, string>>;
/** Tags of a device without any. */
export const noTags: Tags = Object.freeze({});
/** Whether there is at least one. */
export const hasTags = (tags: Tags): boolean => tags !== noTags && Object.keys(tags).length > 0;
/** A change of tags by name: the new value, or null to remove the tag. Tags that are not named stay. */
export type TagChanges = Readonly<Record<string, string | null>>;

/** One tag. */
export interface Tag {
  readonly name: string;
  readonly value: string;
}

/** A tag as one text: no name has a colon. */
export const tagText = ({ name, value }: Tag): string => `${name}:${value}`;
/** Each tag as one text. */
export const tagTexts = (tags: Tags): string[] => Object.entries(tags).map(([name, value]) => tagText({ name, value }));

/** Fault of tags. */
export class TagFault {
  /** In words that follow the name of the field, or that of the tag. */
  readonly message: string;
  /** Name of the tag; null if the fault is not that of one tag. It is a valid name. */
  readonly tag: string | null;
  constructor(message: string, tag: string | null = null) {
    this.message = message;
    this.tag = tag;
  }
}

const nameShape = /^[a-z][a-z0-9_-]{0,31}$/;
/** Rule of a name, in words that follow "is". */
export const tagNameWords = 'a letter a to z, then at most 31 of a to z, 0 to 9, _ and -';
/** Names in one change: a device can lose all its tags and get as many others. */
const MAX_CHANGES = 2 * tagBounds.perDevice;
const MAX_FILTER = tagBounds.perDevice;

/** Whether a tag may have this name. */
export const isTagName = (name: string): boolean => nameShape.test(name);

/** Reads the tags of a new device. They are sorted by name. */
export const readTags = (given: unknown): Tags | TagFault =>
  readAll(given, tagBounds.perDevice, (name, value) => readValue(name, value) ?? new TagFault('is required', name));

/** Reads a change of tags, sorted by name. An empty value removes the tag, as null does. */
export const readTagChanges = (given: unknown): TagChanges | TagFault =>
  readAll(given, MAX_CHANGES, (name, value) => (value === null ? null : readValue(name, value)));

/** The number of names is checked before anything looks at them. */
function readAll<V extends string | null>(
  given: unknown,
  most: number,
  read: (name: string, value: unknown) => V | TagFault,
): Readonly<Record<string, V>> | TagFault {
  if (!isObject(given)) return new TagFault('must be an object of names and values');
  const names = Object.keys(given);
  if (names.length > most) return new TagFault(`must have at most ${most} names`);
  const found: Record<string, V> = {};
  for (const name of names.sort()) {
    if (!isTagName(name)) return new TagFault(`has a name that is not ${tagNameWords}`);
    const value = read(name, (given as Readonly<Record<string, unknown>>)[name]);
    if (value instanceof TagFault) return value;
    found[name] = value;
  }
  return found;
}

/** The value, trimmed; null if nothing is left of it. */
function readValue(name: string, value: unknown): string | null | TagFault {
  if (typeof value !== 'string') return new TagFault('must be a string', name);
  const { valueLength } = tagBounds;
  const tooLong = new TagFault(`is longer than ${valueLength} characters`, name);
  if (!fitsUntrimmed(value, valueLength)) return tooLong;
  const text = trimText(value);
  if (text === '') return null;
  const fault = textFault(text, 'line');
  if (fault) return new TagFault(fault, name);
  return textLength(text) > valueLength ? tooLong : text;
}

/** The tag in `name:value`; null if the text is not of that form. The value may contain colons. */
export function parseTag(text: string): Tag | null {
  const colon = text.indexOf(':');
  const name = trimText(text.slice(0, colon));
  if (colon < 0 || !isTagName(name)) return null;
  const value = readValue(name, text.slice(colon + 1));
  return typeof value === 'string' ? { name, value } : null;
}

/** Reads a filter: one text `name:value` or an array of them. Each is returned once, trimmed. */
export function readTagFilter(given: unknown): string[] | TagFault {
  const texts: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (texts.length > MAX_FILTER) return new TagFault(`must be given at most ${MAX_FILTER} times`);
  const found = new Set<string>();
  for (const text of texts) {
    const tag = typeof text === 'string' ? parseTag(text) : null;
    if (tag === null) return new TagFault(`must be name:value; the name is ${tagNameWords}`);
    found.add(`${tag.name}:${tag.value}`);
  }
  return [...found];
}

/** The tags after a change, sorted by name. */
export function mergeTags(tags: Tags, changes: TagChanges): Tags {
  const after = new Map<string, string>(Object.entries(tags));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) after.delete(name);
    else after.set(name, value);
  }
  return Object.fromEntries([...after].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The attributes and parts of attributes that a request of SCIM wants (RFC 7644, section 3.9). */
import { isObject } from '../../src/contract/json-object.ts';
import { badRequest } from './error.ts';
import { coreSchema } from './filter.ts';

/** The query of a request, or what a search has in its body. */
export type Query = Readonly<Record<string, unknown>>;

/** Most names in `attributes` and in `excludedAttributes`: each resource of a list is compared with all of them. */
const MAX_NAMES = 100;

/** The names of attributes, in lower case. */
function namesOf(value: unknown): string[] {
  if (typeof value !== 'string') return [];
  const names = value.split(',');
  if (names.length > MAX_NAMES) throw badRequest('tooMany', `more than ${MAX_NAMES} names of attributes`);
  return names.map(name => name.trim().toLowerCase().replace(coreSchema, ''));
}

/** Attributes that a response always has. */
const always = ['schemas', 'id', 'meta'];

/** The resource with the attributes that the request wants, and of complex ones their parts. */
export function selected(resource: object, { attributes, excludedAttributes }: Query): object {
  const [wanted, left] = [namesOf(attributes), namesOf(excludedAttributes)];
  if (wanted.length === 0 && left.length === 0) return resource;
  return Object.fromEntries(
    Object.entries(resource).flatMap(([name, value]) => {
      if (always.includes(name)) return [[name, value]];
      const part = wanted.length > 0 ? wantedOf(name, value, wanted) : keptOf(name, value, left);
      return part === undefined ? [] : [[name, part]];
    }),
  );
}

/** The selected part of an attribute: all of it, or the parts that are named. */
function wantedOf(name: string, value: unknown, wanted: readonly string[]): unknown {
  if (wanted.includes(name.toLowerCase())) return value;
  const parts = partsIn(name, wanted);
  return parts.length === 0 ? undefined : partsOf(value, part => parts.includes(part));
}

/** An attribute without the parts that are named. */
function keptOf(name: string, value: unknown, left: readonly string[]): unknown {
  if (left.includes(name.toLowerCase())) return undefined;
  const parts = partsIn(name, left);
  return parts.length === 0 ? value : partsOf(value, part => !parts.includes(part));
}

/** The parts of an attribute among names; the name of a schema has a colon before that of its attribute. */
function partsIn(attribute: string, names: readonly string[]): string[] {
  const name = attribute.toLowerCase();
  return names
    .filter(one => one.startsWith(name) && ['.', ':'].includes(one[name.length]!))
    .map(one => one.slice(name.length + 1));
}

function partsOf(value: unknown, isKept: (part: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map(one => partsOf(one, isKept));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([part]) => isKept(part.toLowerCase())));
}

/** PATCH of a resource (RFC 7644, section 3.5.2), in the spellings that identity providers send. */
import { isObject } from '../../../src/contract/json-object.ts';
import { badRequest } from './error.ts';
import { type Filter, type PatchPath, readPath } from './filter.ts';
import { type Attributes, lowerCased, matches } from './matching.ts';

/** An operation on one attribute. */
interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: PatchPath;
  /** Names in lower case. */
  readonly value: unknown;
}

/** Most operations of a request on a group, and on a user, whose paths can have filters of any form. */
export const mostOperations = { group: 1000, user: 100 } as const;
/** Most values of a multi-valued attribute. Each operation compares all of them. */
const MAX_VALUES = 20;
const kinds = ['add', 'replace', 'remove'] as const;

/** The operations of a body. Attributes of other schemas are left out. Refuses with `invalidSyntax`, `invalidPath` and `noTarget`. */
export function readPatch(body: unknown, most: number): PatchOperation[] {
  const { operations } = (isObject(body) ? lowerCased(body) : {}) as { operations?: unknown };
  if (!Array.isArray(operations) || operations.length === 0)
    throw badRequest('invalidSyntax', 'Operations must be an array with at least one operation');
  // Without a path, one operation sets several attributes.
  const found: PatchOperation[] = [];
  for (const operation of operations) {
    found.push(...readOperation(operation));
    if (found.length > most) throw badRequest('tooMany', `more than ${most} Operations`);
  }
  return found;
}

function readOperation(given: unknown): PatchOperation[] {
  const { op: name, path, value } = isObject(given) ? given : {};
  const op = kinds.find(kind => kind === String(name).toLowerCase());
  if (op === undefined) throw badRequest('invalidSyntax', 'op must be add, replace or remove');
  if (typeof path === 'string' && path !== '') {
    const found = readPath(path);
    return found ? [{ op, path: found, value }] : [];
  }
  if (path !== undefined && path !== null && path !== '') throw badRequest('invalidPath', 'path must be a text');
  if (op === 'remove') throw badRequest('noTarget', 'remove needs a path');
  if (!isObject(value)) throw badRequest('invalidValue', 'without a path, value must be an object');
  return Object.entries(value).flatMap(([attribute, member]) => {
    // A member can be the name of a schema, with an object of its attributes.
    const found = attribute === 'schemas' ? null : readPath(attribute);
    return found ? [{ op, path: found, value: member }] : [];
  });
}

/** The values of a multi-valued attribute after an operation. */
export function patchValues(values: readonly Attributes[], { op, path, value }: PatchOperation): Attributes[] {
  const { filter, sub } = path;
  const given = valuesIn(value);
  if (Math.max(given.length, values.length) > MAX_VALUES)
    throw badRequest('tooMany', `more than ${MAX_VALUES} values of ${path.name}`);
  if (filter === null && sub === null) {
    if (op === 'replace') return given;
    if (op === 'add') return [...values.filter(one => !given.some(other => other.value === one.value)), ...given];
    return value === undefined || value === null
      ? []
      : values.filter(one => !given.some(other => other.value === one.value));
  }
  const isMeant = (one: Attributes) => filter === null || matches(filter, one);
  if (op === 'remove') {
    if (sub === null) return values.filter(one => !isMeant(one));
    return values.map(one => (isMeant(one) ? { ...one, [sub]: undefined } : one));
  }
  const set = sub === null ? (given[0] ?? {}) : { [sub]: textIn(value) };
  if (values.some(isMeant)) return values.map(one => (isMeant(one) ? { ...one, ...set } : one));
  // Identity providers replace a value that does not exist yet: it gets what the filter compares with.
  return [...values, { ...(filter ? equalities(filter) : {}), ...set }];
}

function equalities(filter: Filter): Attributes {
  if (filter.kind === 'and') return Object.assign({}, ...filter.of.map(equalities)) as Attributes;
  return filter.kind === 'compare' && filter.operator === 'eq' ? { [filter.attribute.name]: filter.value } : {};
}

/** A value, or an array of values, as objects with a member `value`. */
export const valuesIn = (value: unknown): Attributes[] =>
  (Array.isArray(value) ? value : [value]).flatMap(one =>
    isObject(one) ? [one] : typeof one === 'string' ? [{ value: one }] : [],
  );

/** The text or boolean of a value: some providers send it as an array of one object with a `value`. */
export function textIn(value: unknown): unknown {
  const [first] = Array.isArray(value) ? value : [value];
  return isObject(first) && 'value' in first ? first.value : first;
}

/** PATCH of a resource (RFC 7644, section 3.5.2), in the spellings that identity providers send. */
import { isObject } from '../../src/contract/json-object.ts';
import { badRequest, ScimError } from './error.ts';
import { type Filter, type PatchPath, readPath } from './filter.ts';
import { type Attributes, lowerCased, matches, nullFaultOf } from './matching.ts';

/** An operation on one attribute. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: PatchPath;
  /** Names in lower case. */
  readonly value: unknown;
}

/** Most operations of a request on a group, and on a user, whose paths can have filters of any form. */
export const mostOperations = { group: 1000, user: 100 } as const;
/** Most values of a multi-valued attribute. Each operation compares all of them. */
export const MAX_VALUES = 20;
const kinds = ['add', 'replace', 'remove'] as const;

/** Called with what is wrong; what it is wrong about is left out if it returns. */
export type OnFault = (fault: ScimError) => void;

/** Refuses the whole request. */
export function refuse(fault: ScimError): never {
  throw fault;
}

/**
 * The operations of a body. Attributes of other schemas are left out. Refuses with `invalidSyntax` a body without operations, and with
 * `onFault` those that cannot be read, and those beyond `most`, but for those on the attribute `vital`.
 */
export function readPatch(body: unknown, most: number, onFault: OnFault = refuse, vital?: string): PatchOperation[] {
  const { operations } = (isObject(body) ? lowerCased(body) : {}) as { operations?: unknown };
  if (!Array.isArray(operations) || operations.length === 0)
    throw badRequest('invalidSyntax', 'Operations must be an array with at least one operation');
  const nullFault = nullFaultOf(body);
  if (nullFault) onFault(nullFault);
  // Without a path, one operation sets several attributes.
  const all = operations.flatMap(operation => readOperation(operation, onFault));
  if (all.length <= most) return all;
  onFault(badRequest('tooMany', `more than ${most} Operations`));
  return all.filter(({ path }, i) => i < most || path.name === vital);
}

function readOperation(given: unknown, onFault: OnFault): PatchOperation[] {
  const { op: name, path, value } = isObject(given) ? given : {};
  const op = kinds.find(kind => kind === String(name).toLowerCase());
  const wrong = (scimType: 'invalidSyntax' | 'invalidPath' | 'noTarget' | 'invalidValue', detail: string) => {
    onFault(badRequest(scimType, detail));
    return [];
  };
  if (op === undefined) return wrong('invalidSyntax', 'op must be add, replace or remove');
  if (typeof path === 'string' && path !== '') return on(op, path, value, onFault);
  if (path !== undefined && path !== null && path !== '') return wrong('invalidPath', 'path must be a text');
  if (op === 'remove') return wrong('noTarget', 'remove needs a path');
  if (!isObject(value)) return wrong('invalidValue', 'without a path, value must be an object');
  // A member can be the name of a schema, with an object of its attributes.
  const members = Object.entries(value).filter(([attribute]) => attribute !== 'schemas');
  return members.flatMap(([attribute, member]) => on(op, attribute, member, onFault));
}

function on(op: PatchOperation['op'], attribute: string, value: unknown, onFault: OnFault): PatchOperation[] {
  try {
    const path = readPath(attribute);
    return path ? [{ op, path, value }] : [];
  } catch (error) {
    if (!(error instanceof ScimError)) throw error;
    onFault(error);
    return [];
  }
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

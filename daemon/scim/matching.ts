/** Which resources match a filter of SCIM 2.0 (RFC 7644, section 3.4.2.2), and what a filter requires of them. */
import { isObject } from '../../src/contract/json-object.ts';
import { UNREADABLE } from '../../src/contract/validate.ts';
import { badRequest, type ScimError } from './error.ts';
import type { AttributeName, Filter, FilterValue, Operator } from './filter.ts';

/** A resource or a value of it, with the names of its attributes in lower case. */
export type Attributes = Readonly<Record<string, unknown>>;

/** The object with the names of all its members in lower case, at all levels. */
export function lowerCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerCased);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toLowerCase(), lowerCased(member)]));
}

/** A body, with names in lower case. Refuses with `invalidSyntax` what is not an object, and with `onFault` a text with U+0000. */
export function requiredObject(body: unknown, onFault: (fault: ScimError) => void): Attributes {
  if (!isObject(body)) throw badRequest('invalidSyntax', 'the body must be a JSON object');
  const fault = nullFaultOf(body);
  if (fault) onFault(fault);
  return lowerCased(body) as Attributes;
}

/** The refusal of a body with U+0000; null if it has none. */
export function nullFaultOf(body: unknown): ScimError | null {
  const fault = isObject(body) ? (body as { readonly [UNREADABLE]?: string })[UNREADABLE] : undefined;
  return fault === undefined ? null : badRequest('invalidValue', fault);
}

/** Attributes whose texts differ in upper and lower case, and those that are times. */
const exact = new Set(['id', 'externalid']);
const times = new Set(['created', 'lastmodified']);

/** Whether a resource, with names in lower case, matches. */
export function matches(filter: Filter, resource: Attributes): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every(one => matches(one, resource));
    case 'or':
      return filter.of.some(one => matches(one, resource));
    case 'not':
      return !matches(filter.of, resource);
    case 'value':
      return listOf(resource[filter.attribute.name]).some(one => matches(filter.of, attributesOf(one)));
    case 'present':
      return valuesOf(filter.attribute, resource).length > 0;
    case 'compare':
      return compares(filter, valuesOf(filter.attribute, resource));
  }
}

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
const attributesOf = (value: unknown): Attributes => (isObject(value) ? value : { value });

/** The values of an attribute; of a complex one without a sub-attribute those of `value`. */
function valuesOf({ name, sub }: AttributeName, resource: Attributes): readonly unknown[] {
  return listOf(resource[name])
    .flatMap(value => (isObject(value) ? listOf(value[sub ?? 'value']) : sub ? [] : [value]))
    .filter(value => value !== '');
}

function compares(
  { attribute, operator, value }: Extract<Filter, { kind: 'compare' }>,
  found: readonly unknown[],
): boolean {
  if (operator === 'ne') return !found.some(one => isEqual(attribute, one, value));
  if (value === null) return operator === 'eq' && found.length === 0;
  return found.some(one =>
    operator === 'eq' ? isEqual(attribute, one, value) : holds(attribute, operator, one, value),
  );
}

/** Equal times, and no others, have equal texts. */
function textOf({ name, sub }: AttributeName, text: string): string {
  const time = name === 'meta' && times.has(sub ?? '') ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  return exact.has(sub ?? name) ? text : text.toLowerCase();
}

function isEqual(attribute: AttributeName, found: unknown, value: FilterValue): boolean {
  if (typeof found === 'string' && typeof value === 'string')
    return textOf(attribute, found) === textOf(attribute, value);
  // Entra ID compares booleans with texts.
  if (typeof found === 'boolean' && typeof value === 'string') return String(found) === value.toLowerCase();
  return found === value;
}

function holds(attribute: AttributeName, operator: Operator, found: unknown, value: FilterValue): boolean {
  if (typeof found !== 'string' || typeof value !== 'string') return false;
  const [text, wanted] = [textOf(attribute, found), textOf(attribute, value)];
  if (operator === 'co') return text.includes(wanted);
  if (operator === 'sw') return text.startsWith(wanted);
  if (operator === 'ew') return text.endsWith(wanted);
  if (operator === 'gt') return text > wanted;
  if (operator === 'ge') return text >= wanted;
  return operator === 'lt' ? text < wanted : text <= wanted;
}

/** The text that an attribute must be equal to for the filter to match; null if others match too. */
export function requiredText(filter: Filter, name: string): string | null {
  if (filter.kind === 'compare')
    return filter.operator === 'eq' && filter.attribute.name === name && typeof filter.value === 'string'
      ? filter.value
      : null;
  if (filter.kind !== 'and') return null;
  return filter.of.map(one => requiredText(one, name)).find(text => text !== null) ?? null;
}

/** The texts of which an attribute must equal one; null if the filter compares in another way. */
export function equalTexts(filter: Filter, name: string): readonly string[] | null {
  if (filter.kind !== 'or') {
    const text = filter.kind === 'compare' ? requiredText(filter, name) : null;
    return text === null ? null : [text];
  }
  const each = filter.of.map(one => equalTexts(one, name));
  return each.includes(null) ? null : each.flatMap(texts => texts!);
}

/** The comparisons of a filter with an attribute, as often as it has them. */
export function comparisons(filter: Filter, name: string): readonly (Filter & { kind: 'compare' | 'present' })[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.flatMap(one => comparisons(one, name));
    case 'not':
      return comparisons(filter.of, name);
    case 'value':
      return filter.attribute.name === name ? comparisons(filter.of, 'value') : [];
    default:
      return filter.attribute.name === name ? [filter] : [];
  }
}

/** Compares examples with real responses: keys, types, words of the program, and patterns of values that vary. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codes, type ErrorCode } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import type { RouteName } from '../../src/contract/endpoints.ts';
import { isObject } from '../../src/contract/json-object.ts';
import { dataExample } from '../../src/contract/openapi/examples.ts';
import { steps } from '../../src/contract/postman-steps.ts';
import { routes } from '../../src/contract/routes.ts';
import { errorExampleOf, type HeardAnswer, listeners } from './openapi.ts';

interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const shapes: readonly RouteShape[] = Object.values(routes);

/** Names of fields of requests, and of texts that come from a file, an account or a host: the program does not choose them. */
const givenNames = new Set(['fileName', 'node', 'person']);
const addNames = ({ properties = {}, anyOf = [], items }: Schema): void => {
  for (const [name, field] of Object.entries(properties)) {
    givenNames.add(name);
    addNames(field);
  }
  for (const one of [...anyOf, ...(items ? [items] : [])]) addNames(one);
};
for (const { body, form } of shapes) for (const one of [body, form]) if (one) addNames(one as Schema);

/** A text with what varies replaced by its pattern. */
const patternOf = (text: string) =>
  text
    .replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'TIME')
    .replace(/^[0-9a-f]{64}$/, 'SHA256')
    .replace(/^[0-9a-f]{32}(?=$|\.)/, 'REGISTRY')
    .replace(/^((?:DM|RCT|[A-Z]{3})-)[A-Z0-9-]+$/, '$1ID')
    .replace(/^[A-Z0-9]{4}(-[A-Z0-9]{4}){1,3}$/, 'CODE')
    .replace(/^(devmgr_|test_|evt_|eyJ)[\w.…-]+$/, '$1TOKEN')
    .replace(/^[\w-]{36,}$/, 'BYTES')
    .replace(/^-----BEGIN PUBLIC KEY-----[\s\S]*$/, 'PEM')
    .replace(/^https?:\/\/[^/]+/, 'ORIGIN')
    .replace(/^[\w-]+(\.[\w-]+)+(?=: )/, 'HOST')
    .replace(/^[\w.-]+\.(apk|bak)$/, 'FILE.$1')
    .replace(/^(\{"method":"fido",)[\s\S]*$/, '$1EVIDENCE')
    .replace(/^devmgr receipt 1\n[\s\S]*$/, 'RECEIPT');

/**
 * The collection sends no request that succeeds, or another one than the example: the table of roles compares the response to a valid
 * request of an ADMIN or HOLDER.
 */
export const isOfValidRequests = (name: RouteName): boolean =>
  name === 'batchUpdateDevices' || Boolean(steps[name]?.takesKey ?? steps[name]?.missing);

/** How the response to a request of the collection differs from the example. */
export function collectionFaults(summary: string, text: string): string[] {
  const shape = shapes.find(one => one.summary === summary);
  return shape && !shape.raw && !isOfValidRequests(shape.id) ? exampleFaults(shape, JSON.parse(text)) : [];
}

interface Envelope {
  readonly code: number;
  readonly message?: string;
  readonly data?: unknown;
}

/** How the response of an operation differs from its example; empty if the response is an error. */
export function exampleFaults(shape: RouteShape, answer: Envelope): string[] {
  if (answer.code !== 200) return [];
  const message = answer.message === 'success' ? [] : [`the message is ${answer.message}`];
  return [...message, ...compare(dataExample(shape), answer.data, (shape.data ?? {}) as Schema, 'data', '')];
}

/**
 * Tests, at the end of a file, that each of these examples is like one of the responses that the file got: the success (200), or the
 * error with a code. It has a value where that response has one, and null where that has null.
 */
export function itAnswersLikeExamples(expected: Partial<Record<RouteName, readonly (200 | ErrorCode)[]>>): void {
  const faults = new Map<string, string[][]>();
  const listen = (answer: HeardAnswer) => {
    const { method, path } = answer;
    const shape = shapes.find(one => one.method === method && one.path === path);
    const body = answer.body as Envelope;
    if (!shape || !expected[shape.id as RouteName]?.some(code => code === body.code)) return;
    const key = `${shape.id} ${body.code}`;
    const found = body.code === 200 ? [...exampleFaults(shape, body), ...absences(dataExample(shape), body.data)] : [];
    faults.set(key, [...(faults.get(key) ?? []), body.code === 200 ? found : messageFaults(answer, body)]);
  };
  beforeAll(() => void listeners.add(listen));
  afterAll(() => void listeners.delete(listen));
  const cells = Object.entries(expected).flatMap(([name, all]) => all.map(code => ({ key: `${name} ${code}` })));
  it.each(cells)('$key: the example is like a response of these tests', ({ key }) => {
    const [best = ['no test gets this response']] = (faults.get(key) ?? []).sort((a, b) => a.length - b.length);
    expect(best).toEqual([]);
  });
}

function messageFaults(answer: HeardAnswer, { code, message = '' }: Envelope): string[] {
  const example = errorExampleOf(answer, codes[code as ErrorCode].name)?.message ?? 'no example';
  return wordsOf(message) === wordsOf(example) ? [] : [`the message is ${message}, the example has ${example}`];
}

/** A message without what varies: ids, numbers of devices, counts. */
const wordsOf = (message: string) =>
  message
    .replace(/\b[A-Z]{3}-\d+\b/g, 'ID')
    .replace(/(?<=serial number )[\w-]+/g, 'SERIAL')
    .replace(/\d+/g, 'N');

/** Where one of the example and the response has null, or no item, and the other has not. */
function absences(example: unknown, real: unknown, path = 'data'): string[] {
  const isAbsent = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
  if (isAbsent(example) || isAbsent(real))
    return isAbsent(example) && isAbsent(real) ? [] : [`${path} is ${real}, the example has ${example}`];
  if (Array.isArray(example) && Array.isArray(real))
    return real.map(one => absences(example[0], one, `${path}[]`)).sort((a, b) => a.length - b.length)[0]!;
  if (!isObject(example) || !isObject(real)) return [];
  const shared = Object.keys(example).filter(key => Object.hasOwn(real, key));
  return shared.flatMap(key => absences(example[key], real[key], `${path}.${key}`));
}

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

function compare(example: unknown, real: unknown, schema: Schema, path: string, name: string): string[] {
  const options = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [schema];
  // Whether a value may be null is in the schema, which each response of a test is validated with.
  if (example === null || real === null) return [];
  if (typeOf(example) !== typeOf(real)) return [`${path} is ${typeOf(real)}, the example has ${typeOf(example)}`];
  if (Array.isArray(example) && Array.isArray(real)) {
    if (example.length === 0) return [];
    const items = real.map(one => compare(example[0], one, options[0]?.items ?? {}, `${path}[]`, name));
    return items.sort((a, b) => a.length - b.length)[0] ?? [];
  }
  if (isObject(example) && isObject(real)) {
    const fields = options.find(one => one.properties)?.properties;
    if (!fields) return [];
    const [documented, given] = [Object.keys(example), Object.keys(real)];
    return [
      ...given.filter(key => !documented.includes(key)).map(key => `${path}.${key} is not in the example`),
      ...documented.filter(key => !given.includes(key)).map(key => `${path}.${key} is only in the example`),
      ...documented
        .filter(key => given.includes(key))
        .flatMap(key => compare(example[key], real[key], fields[key] ?? {}, `${path}.${key}`, key)),
    ];
  }
  const varies = (typeof example === 'number' && name !== 'code') || givenNames.has(name);
  if (example === real || varies || patternOf(String(example)) === patternOf(String(real))) return [];
  return [`${path} is ${String(real)}, the example has ${String(example)}`];
}

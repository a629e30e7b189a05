/** Reads JSON bodies: checks their structure, parses them, and refuses texts with U+0000. A large one is read in time slices. */
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { UNREADABLE } from '../../src/contract/validate.ts';
import { cooperatively, TimeSlice } from '../concurrency.ts';
import { checkShape, checkShapeInSteps, type LongArray, type ShapeBounds } from './json-shape.ts';
import { NOT_JSON } from './json-text.ts';
import { nullFault } from './null-text.ts';

/** Bytes up to which a body is read at once. */
const SMALL = 64 * 1024;

/** Reads a body. An absent one is `{}`. Refuses with 1001. */
export function readJson(body: Buffer, bounds: ShapeBounds): unknown {
  if (body.length > SMALL) return cooperatively(readInParts(body, bounds), { slice: new TimeSlice() });
  if (body.length === 0) return {};
  requireUtf8(body);
  const shape = checkShape(body, bounds);
  const value = parse(body.toString('utf8'));
  if (shape.hasNull) for (const _ of refuseNull(value, bounds));
  return value;
}

function* readInParts(body: Buffer, bounds: ShapeBounds): Generator<void, unknown> {
  requireUtf8(body);
  const shape = yield* checkShapeInSteps(body, bounds);
  const value = shape.longArrays.length ? yield* parseInParts(body, shape.longArrays) : yield* parseWhole(body);
  yield;
  if (shape.hasNull) yield* refuseNull(value, bounds);
  return value;
}

function requireUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw new ApiError(Code.parameterError, 'the body is not valid UTF-8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(Code.parameterError, NOT_JSON);
  }
}

function* parseWhole(body: Buffer): Generator<void, unknown> {
  const text = body.toString('utf8');
  yield;
  return parse(text);
}

/**
 * Random text. With a number, it is the only element of the array that replaces a long array while the rest of the body is
 * parsed. No client knows it, so no body can contain it.
 */
const MARK = randomBytes(16).toString('hex');

/**
 * Parses the long arrays part by part, and the rest with a marker in place of each: if a name occurs twice, the last member
 * counts.
 */
function* parseInParts(body: Buffer, longArrays: readonly LongArray[]): Generator<void, unknown> {
  const arrays: unknown[][] = [];
  const rest: string[] = [];
  let from = 0;
  for (const [i, array] of longArrays.entries()) {
    rest.push(body.toString('utf8', from, array.start), `["${MARK}${i}"]`);
    from = array.end + 1;
    arrays.push(yield* parseArray(body, array));
  }
  rest.push(body.toString('utf8', from));
  const value = parse(rest.join('')) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) {
    const text = Array.isArray(member) ? member[0] : null;
    if (typeof text === 'string' && text.startsWith(MARK)) value[name] = arrays[Number(text.slice(MARK.length))];
  }
  return value;
}

function* parseArray(body: Buffer, { start, end, cuts }: LongArray): Generator<void, unknown[]> {
  const all: unknown[] = [];
  let from = start + 1;
  for (const cut of [...cuts, end]) {
    const part = parse(`[${body.toString('utf8', from, cut)}]`) as unknown[];
    // Nothing before or after a comma.
    if (part.length === 0) throw new ApiError(Code.parameterError, NOT_JSON);
    for (const element of part) all.push(element);
    from = cut + 1;
    yield;
  }
  return all;
}

/** Of a batch, only the item with U+0000 fails; anywhere else the body is refused. */
function* refuseNull(value: unknown, { items }: ShapeBounds): Generator<void, void> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(nullFault(value));
  for (const [name, member] of Object.entries(value)) {
    if (name !== items?.name || !Array.isArray(member)) {
      refuse(nullFault({ [name]: member }));
      continue;
    }
    for (const item of member) {
      const fault = nullFault(item);
      if (fault !== null && typeof item === 'object' && item !== null) Object.assign(item, { [UNREADABLE]: fault });
      yield;
    }
  }
}

function refuse(fault: string | null): void {
  if (fault !== null) throw new ApiError(Code.parameterError, fault);
}

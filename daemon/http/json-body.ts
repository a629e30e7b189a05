/** Reads JSON bodies: checks their structure, parses them, and refuses texts with U+0000. A large one is read in time slices. */
import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { nullFault } from '../../src/contract/null-text.ts';
import { UNREADABLE } from '../../src/contract/validate.ts';
import { cooperatively, Places, TimeSlice } from '../base/concurrency.ts';
import { parse, parseBody } from './json-parts.ts';
import { checkShape, checkShapeInSteps, type ShapeBounds } from './json-shape.ts';

/** Bytes up to which a body is read at once. */
const SMALL = 64 * 1024;

/** How many requests with large bodies are parsed and carried out at once. The others wait in the order of their bodies. */
const LARGE_AT_ONCE = 4;
const large = new Places(LARGE_AT_ONCE);

/** Reads the body of a request. A large one waits for a place first, which the request has until its response is sent. */
export function readBody(request: FastifyRequest, body: Buffer, bounds: ShapeBounds): unknown {
  return body.length > SMALL ? large.take().then(end => readLarge(request, body, bounds, end)) : readJson(body, bounds);
}

function readLarge(request: FastifyRequest, body: Buffer, bounds: ShapeBounds, end: () => void): unknown {
  const { socket } = request.raw;
  socket.once('close', end);
  request.endLarge = () => {
    socket.off('close', end);
    end();
  };
  if (!socket.destroyed) return readJson(body, bounds);
  request.endLarge();
  throw new ApiError(Code.parameterError, 'the request was cut off');
}

/** Reads JSON. An absent one is `{}`. Refuses with 1001. */
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
  const value = yield* parseBody(body, shape.long);
  yield;
  if (shape.hasNull) yield* refuseNull(value, bounds);
  return value;
}

function requireUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw new ApiError(Code.parameterError, 'the body is not valid UTF-8');
}

/** Of a batch, only the item with U+0000 fails; anywhere else the body is refused. */
function* refuseNull(value: unknown, { items, marksNull }: ShapeBounds): Generator<void, void> {
  if (marksNull && typeof value === 'object' && value !== null) {
    const fault = nullFault(value);
    if (fault !== null) Object.assign(value, { [UNREADABLE]: fault });
    return;
  }
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

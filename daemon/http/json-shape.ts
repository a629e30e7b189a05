/**
 * Bounds on the structure of a JSON body, checked before it is parsed: a body of the maximum size that consists of brackets
 * would hold the parser, and with it all other requests, for five seconds (measured).
 */
import { ApiError } from '../../src/contract/codes.ts';

/** Objects and arrays in a body: ten times as many as in the largest batch. */
const MAX_NODES = 100_000;
const MAX_DEPTH = 64;
/** Up to this many brackets, parsing is cheap whatever their structure. Brackets inside strings count here only. */
const CHEAP_BRACKETS = 30_000;

const [QUOTE, BACKSLASH] = ['"', '\\'].map(symbol => symbol.charCodeAt(0));
const OPENING = ['{', '['].map(symbol => symbol.charCodeAt(0));
const CLOSING = ['}', ']'].map(symbol => symbol.charCodeAt(0));

/** Rejects a body beyond the bounds with 1001. Ordinary bodies, including large batches, cost only a byte search. */
export function checkShape(body: Buffer): void {
  if (body.length > CHEAP_BRACKETS && hasManyBrackets(body)) checkBrackets(body);
}

function hasManyBrackets(body: Buffer): boolean {
  let brackets = 0;
  for (const symbol of OPENING)
    for (let at = body.indexOf(symbol); at >= 0; at = body.indexOf(symbol, at + 1))
      if (++brackets > CHEAP_BRACKETS) return true;
  return false;
}

function checkBrackets(body: Buffer): void {
  let depth = 0;
  let nodes = 0;
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const symbol = body[at]!;
    if (symbol === BACKSLASH) at++;
    else if (symbol === QUOTE) inString = !inString;
    else if (inString) continue;
    else if (CLOSING.includes(symbol)) depth--;
    else if (OPENING.includes(symbol)) {
      if (++depth > MAX_DEPTH) throw new ApiError(1001, `the body is nested deeper than ${MAX_DEPTH} levels`);
      if (++nodes > MAX_NODES) throw new ApiError(1001, `the body has more than ${MAX_NODES} objects and arrays`);
    }
  }
}

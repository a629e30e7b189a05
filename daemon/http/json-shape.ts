/**
 * Bounds on the shape of a JSON body, asked before it is parsed: a body of the largest size that is nothing but brackets
 * would keep the parser, and with it everybody else, busy for five seconds (measured).
 */
import { ApiError } from '../../src/contract/codes.ts';

/** Objects and arrays of a body in all: ten times those of the largest batch. */
const MOST_PARTS = 100_000;
const DEEPEST = 64;
/** Brackets up to which no body costs anybody anything; texts may hold as many as they like. */
const HARMLESS = 30_000;

const [QUOTE, BACKSLASH] = ['"', '\\'].map(symbol => symbol.charCodeAt(0));
const OPENING = ['{', '['].map(symbol => symbol.charCodeAt(0));
const CLOSING = ['}', ']'].map(symbol => symbol.charCodeAt(0));

/** Refuses with 1001. Ordinary bodies are only counted through by a search, large batches included. */
export function checkShape(body: Buffer): void {
  if (body.length > HARMLESS && hasManyBrackets(body)) checkBrackets(body);
}

function hasManyBrackets(body: Buffer): boolean {
  let brackets = 0;
  for (const symbol of OPENING)
    for (let at = body.indexOf(symbol); at >= 0; at = body.indexOf(symbol, at + 1))
      if (++brackets > HARMLESS) return true;
  return false;
}

function checkBrackets(body: Buffer): void {
  let depth = 0;
  let parts = 0;
  let inText = false;
  for (let at = 0; at < body.length; at++) {
    const symbol = body[at]!;
    if (symbol === BACKSLASH) at++;
    else if (symbol === QUOTE) inText = !inText;
    else if (inText) continue;
    else if (CLOSING.includes(symbol)) depth--;
    else if (OPENING.includes(symbol)) {
      if (++depth > DEEPEST) throw new ApiError(1001, `the body is nested deeper than ${DEEPEST} levels`);
      if (++parts > MOST_PARTS) throw new ApiError(1001, `the body has more than ${MOST_PARTS} objects and arrays`);
    }
  }
}

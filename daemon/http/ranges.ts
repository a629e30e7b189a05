/**
 * Which part of a file a request asks for (RFC 9110, sections 13 and 14). Parsed here: to the package range-parser (1.3),
 * `bytes=5-2` cannot be satisfied (416); by the RFC such a range is invalid and ignored, and the whole file is sent.
 */

/** First and last byte, both included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Content to send: a part, the whole file, or 416. */
type RequestedRange = ByteRange | 'whole' | 'unsatisfiable';

/** Longest `Range` header that is parsed: one range, with room for white space. */
const MAX_RANGE = 128;
/** Longest `If-None-Match` header that is parsed: some tags of 66 characters. */
const MAX_TAGS = 4096;
const unit = 'bytes=';

/** A range that is malformed, too long, of another unit or one of several is ignored: the response is the whole file. */
export function rangeOf(header: string | undefined, size: number): RequestedRange {
  if (header === undefined || header.length > MAX_RANGE) return 'whole';
  if (header.slice(0, unit.length).toLowerCase() !== unit) return 'whole';
  const [first, last, ...more] = header.slice(unit.length).split('-').map(positionOf);
  if (first === undefined || last === undefined || more.length > 0) return 'whole';
  if (first === 'invalid' || last === 'invalid') return 'whole';
  if (first === null) return last === null ? 'whole' : lastBytes(last, size);
  if (last !== null && last < first) return 'whole';
  return first >= size ? 'unsatisfiable' : { start: first, end: Math.min(last ?? size, size - 1) };
}

/** A position in a range; null if it is left out. */
function positionOf(text: string): number | null | 'invalid' {
  const digits = text.trim();
  if (digits === '') return null;
  return /^\d+$/.test(digits) ? Number(digits) : 'invalid';
}

function lastBytes(count: number, size: number): RequestedRange {
  return count === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - count), end: size - 1 };
}

/** `If-None-Match`: whether the client has this very file. */
export function hasMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined || header.length > MAX_TAGS) return false;
  return header.split(',').some(given => given.trim() === '*' || given.trim().replace(/^W\//, '') === etag);
}

/** `If-Range`: whether a range continues what the client has. Dates and weak tags cannot promise that. */
export function mayResume(header: string | undefined, etag: string): boolean {
  return header === undefined || header.trim() === etag;
}

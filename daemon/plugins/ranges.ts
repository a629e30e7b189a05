/** What part of a file a request asks for (RFC 9110, sections 13 and 14). Pure. */

/** First and last byte, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export type RangeAnswer = ByteRange | 'whole' | 'unsatisfiable';

/** A range that is malformed, of another unit or one of several is passed over: the whole file answers it. */
export function rangeOf(header: string | undefined, size: number): RangeAnswer {
  const match = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return 'whole';
  if (match[1] === '') return lastBytes(Number(match[2]), size);
  const start = Number(match[1]);
  const end = match[2] === '' ? size - 1 : Number(match[2]);
  if (end < start && match[2] !== '') return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size - 1) };
}

function lastBytes(count: number, size: number): RangeAnswer {
  return count === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - count), end: size - 1 };
}

/** `If-None-Match`: whether the client has this very file. */
export function hasMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some(given => given.trim() === '*' || given.trim().replace(/^W\//, '') === etag);
}

/** `If-Range`: whether a range continues what the client has. Dates and weak tags cannot promise it. */
export function mayResume(header: string | undefined, etag: string): boolean {
  return header === undefined || header.trim() === etag;
}

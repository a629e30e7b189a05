/** The end of a file whose last write was cut: by a crash, a power failure or a full disk. */
import { appendFileSync, closeSync, fsyncSync, ftruncateSync, openSync } from 'node:fs';

/** Cuts the file off after `size` bytes. Returns the file that has a copy of the tail, after those of earlier times. */
export function cutTail(path: string, tail: Uint8Array, size: number): string {
  const copy = `${path}.torn`;
  appendFileSync(copy, Buffer.concat([tail, Buffer.from('\n')]), { mode: 0o600, flush: true });
  const fd = openSync(path, 'r+');
  try {
    ftruncateSync(fd, size);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return copy;
}

interface LineOptions {
  /** A text without any line feed is passed as it is. */
  readonly orWhole: boolean;
  /** Called with the start of a line whose end has not been read. May throw. */
  readonly check: (rest: string) => void;
  /** Called if the last line has no end. */
  readonly onTail: () => void;
}

/** The text up to its last line feed. */
export async function* wholeLines(
  chunks: AsyncIterable<string>,
  { orWhole, check, onTail }: LineOptions,
): AsyncGenerator<string> {
  let rest = '';
  let hasLines = false;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) yield rest + chunk.slice(0, end);
    hasLines ||= end > 0;
    rest = end > 0 ? chunk.slice(end) : rest + chunk;
    check(rest);
  }
  if (!hasLines && orWhole) yield rest;
  else if (rest !== '') onTail();
}

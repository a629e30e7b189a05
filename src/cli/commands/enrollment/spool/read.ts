/** Reads a spool file: what waits, and how each delivery has ended. */
import { fstatSync, readSync } from 'node:fs';
import { count } from '../../../count.ts';
import { type Fault, usage } from '../../../fault.ts';
import { readHeader, readLine, type SpoolEnding, type SpoolEntry, type SpoolHeader } from './lines.ts';

/** The most keys of one file. So many take about 50 MB of memory. */
export const mostKeys = 100_000;
/** Bytes. */
const maxLine = 64 * 1024;
const chunkBytes = 64 * 1024;
const newline = 10;

/** A key of the file. */
export interface SpoolItem {
  readonly entry: SpoolEntry;
  /** ISO 8601: when the registration was first sent; null if it was not. */
  sentAt: string | null;
  /** Null while the key waits. */
  delivered: SpoolEnding | null;
}

/** A file as it is on the disk. */
export interface SpoolIndex {
  readonly header: SpoolHeader;
  /** By id, in the order of the file. */
  readonly items: Map<string, SpoolItem>;
  /** Bytes up to the end of the last complete line. */
  readonly size: number;
  /** Whether an incomplete line follows: the write of a run that was killed, or of a full disk. */
  readonly isTorn: boolean;
}

interface Line {
  readonly number: number;
  readonly text: string;
  /** Bytes of the file up to the end of the line. */
  readonly end: number;
}

/** Throws a usage fault that names the first line that is not valid. A last line that is incomplete is not read. */
export function readIndex(file: string, fd: number): SpoolIndex {
  const items = new Map<string, SpoolItem>();
  const { size: total } = fstatSync(fd);
  let header: SpoolHeader | null = null;
  let size = 0;
  for (const { text, number, end } of completeLines(file, fd)) {
    if (header === null) header = headerOf(file, text);
    else if (!take(items, text)) {
      // A write that a power failure has cut can end with a line feed.
      if (end < total) throw damaged(file, number);
      break;
    }
    if (items.size > mostKeys) throw tooMany(file);
    size = end;
  }
  if (header === null) throw foreign(file);
  return { header, items, size, isTorn: size < total };
}

/** Takes a line into the index. False if it is not valid there. */
function take(items: Map<string, SpoolItem>, text: string): boolean {
  const line = readLine(text);
  if (line === null) return false;
  if ('key' in line) {
    const { id } = line.key;
    if (items.has(id)) return false;
    items.set(id, { entry: line.key, sentAt: null, delivered: null });
    return true;
  }
  if ('ended' in line) return items.delete(line.ended);
  const item = items.get('sent' in line ? line.sent : line.done);
  if (item === undefined) return false;
  if ('sent' in line) item.sentAt ??= line.at;
  else item.delivered = { at: line.at, result: line.result, deviceId: line.deviceId, message: line.message };
  return true;
}

/** The lines that end with a line feed. */
function* completeLines(file: string, fd: number): Generator<Line> {
  const chunk = Buffer.alloc(chunkBytes);
  let rest: Buffer = Buffer.alloc(0);
  let size = 0;
  let number = 1;
  for (let position = 0; ; ) {
    const read = readSync(fd, chunk, 0, chunk.length, position);
    if (read === 0) return;
    position += read;
    rest = Buffer.concat([rest, chunk.subarray(0, read)]);
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      size += end + 1;
      yield { number: number++, text: rest.toString('utf8', 0, end), end: size };
      rest = rest.subarray(end + 1);
    }
    if (rest.length > maxLine) throw number === 1 ? foreign(file) : damaged(file, number);
  }
}

function headerOf(file: string, text: string): SpoolHeader {
  const header = readHeader(text);
  if (header === null) throw foreign(file);
  if (header === 'version')
    throw usage(`${file} was written by a later version of devmgr`, 'use that version to deliver its keys');
  return header;
}

const keepIt = 'keep a copy of the file, and restore it from a backup';

const foreign = (file: string): Fault =>
  usage(`${file} is not a spool file of devmgr`, 'name a file that enroll --spool has written');

const damaged = (file: string, line: number): Fault =>
  usage(`${file}, line ${line}: it is not a line of a spool file`, keepIt);

/** The fault for a file that takes no further key. */
export const tooMany = (file: string): Fault =>
  usage(`${file} has more than ${count(mostKeys)} keys`, 'name another file with --spool');

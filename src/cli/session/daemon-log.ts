/** The log file of a local daemon: opened for a start, read if the start fails. */

import { openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { objectIn } from '../../contract/json-object.ts';
import { homeFiles } from '../../contract/local.ts';
import type { StartFailure } from '../../contract/programs.ts';
import { tryOr } from '../fault.ts';
import { makeFolder, unusableHome } from '../settings/files.ts';

const tailLines = 12;
const maxLogBytes = 10 * 1024 * 1024;

/** Opens the log of a home for appending; one of over 10 MiB becomes `.1` first. `size` is where the new lines begin, in bytes. */
export function openLog(home: string): { readonly fd: number; readonly size: number } {
  const file = join(home, homeFiles.log);
  try {
    makeFolder(home);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= maxLogBytes) return { fd: openSync(file, 'a', 0o600), size };
    renameSync(file, `${file}.1`);
    return { fd: openSync(file, 'a', 0o600), size: 0 };
  } catch (error) {
    throw unusableHome(home, error);
  }
}

/** A line of the log, as far as it is understood. */
interface LogEntry {
  readonly words: string;
  /** Whether the daemon has reported in it why it ends. */
  readonly isRefusal: boolean;
  readonly reason: StartFailure | null;
}

/** The last lines of the log after a position. */
export function logEntries(home: string, from: number): readonly LogEntry[] {
  const text = tryOr(() => readFileSync(join(home, homeFiles.log)).subarray(from).toString('utf8'), '');
  return text
    .split('\n')
    .filter(line => line.trim() !== '')
    .slice(-tailLines)
    .map(logEntry);
}

/** The message of a JSON line, else the line. */
function logEntry(line: string): LogEntry {
  const { msg, error } = (objectIn(line) ?? {}) as {
    msg?: unknown;
    error?: { message?: unknown; reason?: StartFailure };
  };
  const words = msg ?? error?.message;
  return {
    words: typeof words === 'string' ? words : line,
    isRefusal: error !== undefined,
    reason: error?.reason ?? null,
  };
}

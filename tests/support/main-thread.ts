import { readFileSync } from 'node:fs';

/**
 * Milliseconds of processor time that the main thread of a process has used (Linux). Unlike elapsed time it does not grow
 * because something else runs beside it.
 */
export function mainThreadMilliseconds(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

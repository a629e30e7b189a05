/** How the daemon of a home was started last: the next start keeps the port, a restart repeats the flags. */
import { join } from 'node:path';
import { homeFiles } from '../../contract/local.ts';
import { readJsonFile, writeJsonFile } from './files.ts';

/** Content of `homeFiles.daemonStart`. */
interface DaemonStart {
  /** The process that was started. */
  readonly pid: number;
  /** The address on which it listened. */
  readonly url: string;
  /** Further arguments of `daemon run`. */
  readonly args: readonly string[];
}

const fileIn = (home: string): string => join(home, homeFiles.daemonStart);

/** Null if no daemon was started in the background, or the file cannot be used: then the start has nothing to keep. */
export function readDaemonStart(home: string): DaemonStart | null {
  try {
    const { pid, url, args } = readJsonFile(fileIn(home)) ?? {};
    const isList = Array.isArray(args) && args.every(word => typeof word === 'string');
    if (typeof pid !== 'number' || typeof url !== 'string' || !URL.canParse(url) || !isList) return null;
    return { pid, url, args: args as string[] };
  } catch {
    return null;
  }
}

/** Stores how the daemon was started. */
export const storeDaemonStart = (home: string, start: DaemonStart): void => writeJsonFile(fileIn(home), start);

/** The port of an address, also if it is the usual one of its scheme. */
export function portOf(address: string): number {
  const { port, protocol } = new URL(address);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

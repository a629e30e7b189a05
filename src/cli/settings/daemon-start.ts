/** How the daemon of a home was started last: the next start keeps the port if it is free, a restart repeats the flags. */
import { join } from 'node:path';
import { defaultHost, defaultPort, homeFiles } from '../../contract/local.ts';
import { systemCode } from '../fault.ts';
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

/**
 * The flags of the last start that name the registry. A command that starts the daemon keeps them: without them it would serve the
 * file in the home instead of the database.
 */
export const registryFlags = (home: string): readonly string[] =>
  readDaemonStart(home)?.args.filter(flag => /^--(?:store|secrets|files)=/.test(flag)) ?? [];

/** Stores how the daemon was started. */
export const storeDaemonStart = (home: string, start: DaemonStart): void => writeJsonFile(fileIn(home), start);

/** The port of an address, also if it is the usual one of its scheme. */
export function portOf(address: string): number {
  const { port, protocol } = new URL(address);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** The port that the daemon of a home had last, so that addresses in profiles stay right; else the usual one. */
export function keptPort(home: string): number {
  const last = readDaemonStart(home);
  return last === null ? defaultPort : portOf(last.url);
}

/** The wanted port, else the usual one, else 0 for any: the first that no other program has. */
export async function freePort(wanted: number): Promise<number> {
  if (await isPortFree(wanted)) return wanted;
  return wanted !== defaultPort && (await isPortFree(defaultPort)) ? defaultPort : 0;
}

/** Whether a daemon can have the port: it listens on both loopback addresses. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await isAddressFree(defaultHost, port)) && (await isAddressFree('::1', port));
}

function isAddressFree(host: string, port: number): Promise<boolean> {
  const { createServer } = process.getBuiltinModule('node:net');
  return new Promise(resolve => {
    const probe = createServer();
    // A machine without IPv6 has no such address, so no other program has its port either.
    probe.once('error', error => resolve(systemCode(error) !== 'EADDRINUSE' && host !== defaultHost));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** Which port a local daemon gets. */
import { defaultHost, defaultPort } from '../../contract/local.ts';
import { systemCode } from '../fault.ts';
import { portOf, readDaemonStart } from '../settings/daemon-start.ts';

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

/** HAProxy in front of the primary server and of the registry daemons, with the files of packaging/haproxy. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseCluster } from './database.ts';
import type { Machine } from './machine.ts';
import { SERVER_PORT } from './patroni-config.ts';

export const API_PORT = 8080;

const packaged = join(import.meta.dirname, '../../packaging/haproxy');

export function startProxy(
  folder: string,
  machine: Machine,
  { members }: DatabaseCluster,
  nodes: readonly Machine[],
): void {
  const servers = members.map(member => member.machine);
  const files = [
    // A line for each request would fill the disk.
    withAddresses('registry.cfg', machine, nodes, API_PORT).replace(
      /log stdout .*/,
      'log stdout format iso local0 notice',
    ),
    withAddresses('postgres.cfg', machine, servers, SERVER_PORT),
  ].map((text, i) => {
    const file = join(folder, `haproxy-${i}.cfg`);
    writeFileSync(file, text);
    return ['-f', file];
  });
  machine.start({ program: 'haproxy', args: ['-db', ...files.flat()] });
}

/** The file with the machines here, without TLS. */
function withAddresses(name: string, { address }: Machine, behind: readonly Machine[], port: number): string {
  return readFileSync(join(packaged, name), 'utf8')
    .replace(/^ {2}bind .*$/m, `  bind ${address}:${port}`)
    .replaceAll(/^ {2}server \S+-(\d) .*$/gm, (_, number) => {
      const server = behind[Number(number) - 1]!;
      return `  server ${server.name} ${server.address}:${port}`;
    });
}

/** HAProxy in front of the primary server, and in front of the registry daemons. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseCluster, PATRONI_PORT, SERVER_PORT } from './database.ts';
import type { Machine } from './machine.ts';

export const API_PORT = 8080;
/** Here no request is cut, not even one to a node that does not answer. */
export const DRAINING_PORT = 8081;

export function startProxy(
  folder: string,
  machine: Machine,
  databases: DatabaseCluster,
  nodes: readonly Machine[],
): void {
  const file = join(folder, 'haproxy.cfg');
  const servers = databases.members.map(({ machine: { name, address } }) => server(name, address, SERVER_PORT));
  const daemons = nodes.map(({ name, address }) => server(name, address, API_PORT));
  writeFileSync(
    file,
    `
global
  maxconn 4000
defaults
  log stdout format raw daemon notice
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  timeout check 700ms
  retries 3
  option redispatch 1
  default-server inter 400ms fall 2 rise 1
listen primary
  mode tcp
  bind ${machine.address}:${SERVER_PORT}
  option httpchk GET /primary
  default-server port ${PATRONI_PORT} on-marked-down shutdown-sessions
${servers.join('\n')}
listen registry
  mode http
  bind ${machine.address}:${API_PORT}
  balance roundrobin
  option httpchk GET /api/health
  http-check expect status 200 error-status L7OKC
  default-server inter 500ms fall 2 rise 2 on-marked-down shutdown-sessions
${daemons.join('\n')}
listen draining
  mode http
  bind ${machine.address}:${DRAINING_PORT}
  balance roundrobin
  option httpchk GET /api/health
${daemons.join('\n')}
`,
  );
  machine.start({ program: 'haproxy', args: ['-db', '-f', file] });
}

const server = (name: string, address: string, port: number) => `  server ${name} ${address}:${port} check`;

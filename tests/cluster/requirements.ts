/** The Debian packages of the cluster: installed by root under CI, otherwise named. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findTool } from '../support/needs.ts';
import { postgresServers } from '../support/postgres.ts';

/** Debian has other programs than npm: Patroni runs the server of the system. */
const debianServer = () => postgresServers().find(({ libraries }) => libraries === null) ?? null;

const wanted: readonly { readonly debian: string; readonly isThere: () => boolean }[] = [
  { debian: 'postgresql', isThere: () => debianServer() !== null },
  ...Object.entries({
    patroni: 'patroni',
    'etcd-server': 'etcd',
    haproxy: 'haproxy',
    iptables: 'iptables',
    iproute2: 'ip',
    'util-linux': 'unshare',
    'swift-proxy': 'swift-proxy-server',
    'swift-account': 'swift-account-server',
    'swift-container': 'swift-container-server',
    'swift-object': 'swift-object-server',
  }).map(([debian, program]) => ({ debian, isThere: () => findTool(program) !== null })),
  { debian: 'libfaketime', isThere: () => fakeTimeLibrary() !== null },
];

/** The folder with initdb and postgres. */
export const postgresFolder = (): string => debianServer()!.folder;

/** The library that sets the clock of a process; null if it is not installed. */
export function fakeTimeLibrary(): string | null {
  const folders = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(name => `/usr/lib/${name}/faketime/libfaketime.so.1`);
  return folders.find(file => existsSync(file)) ?? null;
}

/** Why the cluster cannot run here, as a line for a person; null if it can. */
export function missingHere(): string | null {
  if (process.platform !== 'linux') return 'network namespaces need Linux';
  if (process.getuid?.() !== 0) return 'network namespaces need root: sudo npm run test:cluster';
  install();
  const missing = wanted.filter(({ isThere }) => !isThere()).map(({ debian }) => debian);
  return missing.length === 0 ? null : `missing here; run: apt-get install ${missing.join(' ')}`;
}

function install(): void {
  const missing = wanted.filter(({ isThere }) => !isThere()).map(({ debian }) => debian);
  if (missing.length === 0 || !process.env.CI) return;
  // The packages start servers of their own, which nothing here needs.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  spawnSync('apt-get', ['update', '-qq'], { env, stdio: [...stdio] });
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], { env, stdio: [...stdio] });
}

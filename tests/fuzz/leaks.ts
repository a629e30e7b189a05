/** Leaks of a daemon process after a run: handles, memory, errors in its log. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { type DaemonProcess, spawnDaemon, uploadApp } from '../support/daemon-process.ts';
import { type Report, type RunOptions, tryInputs } from './run.ts';

export interface Trial {
  readonly report: Report;
  /** Everything that is wrong: answers, log, handles, memory. */
  readonly problems: readonly string[];
}

/** Inputs after which a daemon has in memory what it will keep: code that has run, caches, tokens. */
const WARMING = 4000;
/** MiB that may be added afterwards: devices and journal entries that inputs have made, and garbage not yet collected. */
const MOST_GROWTH = 96;

/** Connections to PostgreSQL of a daemon without an export (docs/postgresql.md). It opens them when it first needs them. */
const MOST_CONNECTIONS = 10;

/** `connections`: how many connections the database has with the daemon; absent on SQLite. */
interface TrialOptions extends RunOptions {
  readonly connections?: () => Promise<number>;
}

/** Tries a daemon, and looks at it before and after. Handles and memory are looked at on Linux alone. */
export async function tryDaemon(daemon: DaemonProcess, options: TrialOptions): Promise<Trial> {
  const target = { ...daemon, scimToken: await furnish(daemon) };
  const warming = Math.min(WARMING, Math.round(options.count / 2));
  const first = await tryInputs(target, { ...options, count: warming });
  const look = () => stateOf(daemon.pid, options.connections);
  const before = await look();
  const second = await tryInputs(target, { ...options, seed: options.seed + warming, count: options.count - warming });
  const report = joined(first, second);
  const problems = [...report.faults, ...errorsIn(daemon.output())];
  if (daemon.child.exitCode !== null || daemon.child.signalCode !== null)
    return { report, problems: [...problems, 'the daemon has ended'] };
  if (before) problems.push(...(await leftOver(look, before)));
  return { report, problems };
}

/** A daemon to try. A small heap is collected often, so that its memory shows what is held and not what is yet to be collected. */
export const spawnTried = (home: string, store?: string): Promise<DaemonProcess> =>
  spawnDaemon(
    { home, trustProxy: ['127.0.0.0/8'], ...(store ? { store } : {}) },
    { NODE_OPTIONS: '--max-old-space-size=128' },
  );

/**
 * DEV-1, active and with the backup BKP-1, and the package APP-1: what inputs ask for by these names exists. Single sign-on is set
 * up with a provider that does not answer. Resolves to a service token that may use SCIM.
 */
export async function furnish(daemon: DaemonProcess): Promise<string> {
  const device = { deviceType: 'UKEY', serialNumber: 'FUZZ-1', manufacturer: 'Acme', model: 'K1' };
  const { data } = await daemon.call('POST', '/api/devices/register', device);
  const { deviceId, activationCode } = data as { deviceId: string; activationCode: string };
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
  await uploadApp(daemon, '1.0.0');
  const form = new FormData();
  form.set('file', new Blob(['backup']), 'a.bak');
  const headers = { authorization: `Bearer ${daemon.token}` };
  await fetch(`${daemon.url}/api/devices/${deviceId}/backups`, { method: 'POST', body: form, headers });
  const roles = { ADMIN: ['admins'], DEALER: [], VIEWER: [] };
  await daemon.call('PUT', '/api/sso', {
    issuer: 'http://127.0.0.1:9',
    clientId: 'devmgr',
    clientSecret: 'secret',
    roles,
  });
  const program = { name: 'provider', role: 'VIEWER', expiresInDays: 1, may: ['scim'] };
  return ((await daemon.call('POST', '/api/tokens', program)).data as { readonly token: string }).token;
}

function joined(first: Report, second: Report): Report {
  const statuses = new Map(first.statuses);
  for (const [status, times] of second.statuses) statuses.set(status, (statuses.get(status) ?? 0) + times);
  return {
    sent: first.sent + second.sent,
    statuses,
    slowest: Math.max(first.slowest, second.slowest),
    suspects: first.suspects + second.suspects,
    faults: [...first.faults, ...second.faults],
  };
}

const errorsIn = (log: string): string[] => log.split('\n').filter(line => /"level":"(error|fatal)"/.test(line));

interface State {
  /** The file or socket of each. */
  readonly handles: readonly string[];
  /** Connections to PostgreSQL, which are handles too. */
  readonly connections: number;
  readonly megabytes: number;
}

async function stateOf(pid: number, count: () => Promise<number> = async () => 0): Promise<State | null> {
  if (process.platform !== 'linux') return null;
  const connections = await count();
  const names = await readdir(`/proc/${pid}/fd`);
  const handles = await Promise.all(names.map(name => readlink(`/proc/${pid}/fd/${name}`).catch(() => 'closed since')));
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return { handles, connections, megabytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024 };
}

/** The handles without one for each of `others`: a file can be open several times. */
function withoutEach(handles: readonly string[], others: readonly string[]): string[] {
  const rest = [...others];
  return handles.filter(handle => {
    const at = rest.indexOf(handle);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** Closed connections take a moment to be seen: what is still held after many looks is held. */
async function leftOver(look: () => Promise<State | null>, before: State): Promise<string[]> {
  const held = (state: State) => state.handles.length - state.connections;
  let now = before;
  for (let looks = 0; looks < 100; looks++) {
    now = (await look())!;
    if (held(now) <= held(before) && now.connections <= MOST_CONNECTIONS) break;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  const left = withoutEach(now.handles, before.handles);
  const grown = now.megabytes - before.megabytes;
  return [
    ...(held(now) > held(before) ? [`handles are left: ${left.join(', ')}`] : []),
    ...(now.connections > MOST_CONNECTIONS ? [`${now.connections} connections to the database are left`] : []),
    ...(grown > MOST_GROWTH
      ? [`memory has grown by ${Math.round(grown)} MiB, from ${Math.round(before.megabytes)}`]
      : []),
  ];
}

import { resolve } from 'node:path';
import type { DaemonInfo } from '../../../contract/local.ts';
import { exitCodes } from '../../exit-codes.ts';
import { Fault, failure } from '../../fault.ts';
import { type Context, commandLine, firstLogin } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { camel, type FlagShape, type FlagValues } from '../../framework/flags.ts';
import { present } from '../../framework/present.ts';
import { firstPasswordFile } from '../../session/first-password.ts';
import {
  daemonMissing,
  findDaemon,
  portNotice,
  type StartedDaemon,
  startDaemon,
  stopDaemon,
} from '../../session/local-daemon.ts';
import { localIdentity, readLoginName } from '../../settings/credentials.ts';
import { portOf, readDaemonStart } from '../../settings/daemon-start.ts';
import { runningDaemon } from '../../settings/settings.ts';
import { safe, shellWord } from '../../terminal/text.ts';
import { duration } from '../../terminal/when.ts';
import { daemonFlags } from './run.ts';

/** Starts the daemon in the background, and waits until it is ready. Idempotent. */
export const daemonStart = command({
  description:
    'Does nothing if the daemon is already running: to change its options, use daemon restart. The log is daemon.log in the home folder.',
  flags: daemonFlags,
  examples: {
    'on the default port': 'daemon start',
    'with a simulated key, for tests': 'daemon start --simulate-keys 1',
  },
  async run({ flags }, context) {
    const { out, settings } = context;
    const { home } = settings;
    const running = await findDaemon(home, context.io.interrupt);
    const args = argumentsOf(flags);
    if (running) checkOptions(context, running, flags.port, args);
    const info = running ?? (await startNow(context, flags.port ?? null, args));
    if (running && !context.globals.json) out.notice('The daemon is already running.');
    const passwordFile = firstPasswordFile({ ...settings, server: null });
    await present(context, {
      data: {
        running: true,
        started: running === null,
        pid: info.pid,
        url: info.url,
        version: info.version,
        startedAt: info.startedAt,
        home,
        initialPasswordFile: passwordFile,
      },
      id: info.url,
      page: info.url,
      title: running ? 'The daemon is running' : 'The daemon has started',
      rows: [
        ['address', safe(info.url)],
        ['pid', String(info.pid)],
        ['home', home],
        ['first password', passwordFile === null ? null : `in ${passwordFile}`],
      ],
      ...nextLogin(context, passwordFile),
    });
  },
});

/** Throws a fault if the running daemon does not have these options. */
function checkOptions(context: Context, { pid, url }: DaemonInfo, port: number | undefined, args: readonly string[]) {
  const last = readDaemonStart(context.settings.home);
  const known = last?.pid === pid ? last.args : [];
  const words = args.filter(word => !known.includes(word));
  if (port !== undefined && port !== 0 && port !== portOf(url)) words.unshift(`--port=${port}`);
  if (words.length === 0) return;
  throw failure(
    `the daemon is already running at ${url} (pid ${pid}), without ${words.map(word => word.split('=', 1)[0]).join(', ')}`,
    `restart it with them: ${commandLine(context, `daemon restart ${words.map(asTyped).join(' ')}`)}`,
  );
}

const asTyped = (word: string): string => {
  const [name, ...value] = word.split('=');
  return value.length === 0 ? word : `${name} ${shellWord(value.join('='))}`;
};

/** Starts the daemon. If its port is not the one that it would have, a notice reports this. */
export async function startNow(
  { out, settings, io }: Context,
  port: number | null,
  args: readonly string[],
): Promise<StartedDaemon> {
  const starting = startDaemon({ home: settings.home, port, args, signal: io.interrupt });
  const started = await out.progress.during('Starting the daemon', starting);
  const moved = portNotice(started);
  if (moved !== null && !out.json) await out.prose(moved);
  return started;
}

/** The first login, as long as it has not been done from this home. */
function nextLogin(context: Context, passwordFile: string | null): { readonly next?: string } {
  const isNew = passwordFile !== null && readLoginName(context.settings, localIdentity) === null;
  return isNew ? { next: firstLogin(context, passwordFile) } : {};
}

/** The flags for `daemon run`, without the port. It runs in another folder, so file names become absolute. */
export function argumentsOf(flags: Omit<FlagValues<typeof daemonFlags>, 'port'>): string[] {
  const { port: _, ...shapes } = daemonFlags;
  const values: Readonly<Record<string, unknown>> = { ...flags };
  return Object.entries<FlagShape>(shapes).flatMap(([name, { value, offer }]) => {
    const given = values[camel(name)];
    if (value === undefined) return given === name.startsWith('no-') ? [] : [`--${name}`];
    return [given ?? []].flat().map(text => `--${name}=${offer === 'file' ? resolve(String(text)) : text}`);
  });
}

/** Stops the daemon, and waits until it has ended. Idempotent. */
export const daemonStop = command({
  description: 'Requests in progress are completed first. Does nothing if no daemon is running.',
  examples: { 'stop it': 'daemon stop' },
  async run(_, context) {
    const { out, globals } = context;
    const stopping = stopDaemon(context.settings.home, context.io.interrupt);
    const stopped = await out.progress.during('Waiting for the daemon to end', stopping);
    if (globals.json) await out.document({ running: false, stopped: stopped !== null, pid: stopped?.pid ?? null });
    else out.notice(stopped ? `The daemon (pid ${stopped.pid}) has stopped.` : 'The daemon was not running.');
  },
});

/** Shows the state of the daemon. Exit code 9 if it is not running. */
export const daemonStatus = command({
  description:
    'Exit code 0 if it is running and answers, else 9. For the state of a device, see devmgr show; for the login, devmgr whoami.',
  examples: {
    'for people': 'daemon status',
    'its address': 'daemon status --json | jq -r .url',
  },
  run: (_, context) => status(context),
});

/** Role of the daemon in its registry, and its locations. */
function placesOf({ role, node, store, files }: DaemonInfo): [name: string, value: string | null][] {
  if (role === undefined || node === undefined) return [];
  return [
    ['role', role],
    ['node', safe(node)],
    ['store', role === 'station' ? null : safe(store ?? 'SQLite in the home')],
    ['files', role === 'station' ? null : safe(files ?? 'in the home')],
  ];
}

async function status(context: Context): Promise<number> {
  const { out, globals, settings } = context;
  const found = await findDaemon(settings.home, context.io.interrupt);
  if (found) {
    const { health, ...info } = found;
    await present(context, {
      data: { running: true, ...info, home: settings.home, health },
      id: info.url,
      page: info.url,
      title: health.ready ? 'The daemon is running' : 'The daemon is running, but not ready',
      rows: [
        ['address', safe(info.url)],
        ['pid', String(info.pid)],
        ['version', safe(health.version)],
        ['uptime', duration(health.uptimeSeconds)],
        ['state', safe(health.reason ? `${health.status}: ${health.reason}` : health.status)],
        ...placesOf(info),
        ['home', settings.home],
      ],
    });
    return exitCodes.done;
  }
  const { what, fix } = daemonMissing(settings.home);
  if (!globals.json) throw new Fault('unreachable', what, fix);
  const silent = runningDaemon(settings.home);
  await out.document({
    running: silent !== null,
    pid: silent?.pid ?? null,
    url: silent?.url ?? null,
    home: settings.home,
    ...(silent ? { health: null } : {}),
  });
  return exitCodes.unreachable;
}

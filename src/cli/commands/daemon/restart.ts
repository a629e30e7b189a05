import type { DaemonInfo } from '../../../contract/local.ts';
import { Fault, failure, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { present } from '../../framework/present.ts';
import { awaitDaemon, findDaemon, stopDaemon } from '../../session/local-daemon.ts';
import { portOf, readDaemonStart } from '../../settings/daemon-start.ts';
import { runningDaemon } from '../../settings/settings.ts';
import { safe } from '../../terminal/text.ts';
import { argumentsOf, startNow } from './daemon.ts';
import { daemonFlags } from './run.ts';
import { restartUnit, systemdOf } from './service/systemd.ts';

/** Stops the daemon and starts it again on the same port with the same flags. */
export const daemonRestart = command({
  description:
    'Keeps the port and the options of the last start; options given here replace them. The daemon gets the environment variables of this shell. Requests in progress are completed first. A daemon that is not running is started. A daemon that "daemon install" has set up is restarted by its service manager.',
  flags: daemonFlags,
  examples: {
    'after an upgrade': 'daemon restart',
    'on another port': 'daemon restart --port 7480',
  },
  async run({ flags }, context) {
    const { home } = context.settings;
    const running = runningDaemon(home);
    const given = argumentsOf(flags);
    const isChanged = flags.port !== undefined || given.length > 0;
    if (running !== null && (await restartService(context, running, isChanged))) return;
    const last = readDaemonStart(home);
    if (running !== null && last?.pid !== running.pid) throw startedElsewhere(running);
    const args = merged(last?.args ?? [], given);
    const port = flags.port ?? (running === null ? null : portOf(running.url));
    if (running !== null) await stop(context);
    await report(context, running, await start(context, running, port, args));
  },
});

/** It may have flags that are not known here, or be started again by what supervises it. */
const startedElsewhere = ({ pid }: DaemonInfo): Fault =>
  failure(
    `the daemon (pid ${pid}) was not started with "daemon start", so it was not stopped`,
    'restart it in its terminal, or with its supervisor',
  );

/** The flags of the last start, in which those that are given replace those of the same name. */
function merged(last: readonly string[], given: readonly string[]): readonly string[] {
  const nameOf = (flag: string) => flag.split('=', 1)[0]!;
  const names = new Set(given.map(nameOf));
  return [...last.filter(flag => !names.has(nameOf(flag))), ...given];
}

const stop = ({ out, settings, io }: Context): Promise<DaemonInfo | null> =>
  out.progress.during('Waiting for the daemon to end', stopDaemon(settings.home, io.interrupt));

/** A person who restarts a daemon expects one to run: a failure reports that none does. */
async function start(context: Context, stopped: DaemonInfo | null, port: number | null, args: readonly string[]) {
  try {
    return await startNow(context, port, args);
  } catch (error) {
    if (stopped === null || !(error instanceof Fault)) throw error;
    if (error.kind === 'interrupted')
      throw new Fault('interrupted', 'interrupted after the daemon was stopped', 'see: devmgr daemon status');
    throw new Fault(error.kind, `the daemon was stopped, and none is running now: ${error.message}`, error.hint);
  }
}

/** Whether the daemon is run by a service manager, which has restarted it. A fault if only the administrator can. */
async function restartService(context: Context, { pid }: DaemonInfo, isChanged: boolean): Promise<boolean> {
  const { settings, io, out } = context;
  const manager = systemdOf(pid);
  if (manager === null) return false;
  if (isChanged)
    throw usage(
      'the options of a service are in its unit, so the daemon was not restarted',
      manager === 'user' ? 'set them: devmgr daemon install' : 'set them: systemctl edit devmgr',
    );
  if (manager === 'machine')
    throw failure(
      `the daemon (pid ${pid}) is a service of this machine, so it was not stopped`,
      'restart it: sudo systemctl restart devmgr',
    );
  out.progress.say('Restarting the service');
  const problem = restartUnit();
  const isReady = problem === null && (await awaitDaemon(settings.home, io.interrupt));
  out.progress.clear();
  const found = await findDaemon(settings.home, io.interrupt);
  if (!isReady || found === null)
    throw new Fault(
      'unreachable',
      `the service could not be restarted${found === null ? ', and no daemon is running now' : ''}: ${problem ?? 'it does not answer'}`,
      'see: journalctl --user -u devmgr',
    );
  await report(context, found, found);
  return true;
}

async function report(context: Context, before: DaemonInfo | null, now: DaemonInfo): Promise<void> {
  const { home } = context.settings;
  const { pid, url, version, startedAt } = now;
  await present(context, {
    data: { running: true, restarted: before !== null, pid, url, version, startedAt, home },
    id: url,
    page: url,
    title: before === null ? 'The daemon was not running, and has started' : 'The daemon has restarted',
    rows: [
      ['address', safe(url)],
      ['pid', String(pid)],
      ['home', home],
    ],
  });
}

/** `daemon install` and `daemon uninstall`: the daemon as a service of the operating system for this user. */
import { readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { Fault, failure, systemCode, systemWords } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { awaitDaemon, findDaemon, stopDaemon } from '../../session/local-daemon.ts';
import { writeWhole } from '../../settings/files.ts';
import { readPackaged } from '../../settings/packaged.ts';
import { selfCommand } from '../../settings/processes.ts';
import { argumentsOf } from './daemon.ts';
import { daemonFlags } from './run.ts';
import { launchdService } from './service/launchd.ts';
import { scheduledTask } from './service/scheduled-task.ts';
import { firstFailure, marker, runStep, type Service, type ServiceFacts } from './service/service.ts';
import { systemdService } from './service/systemd.ts';

const untested =
  'On macOS the service is a launch agent, on Windows a scheduled task. Both follow the documentation of those systems and have not been tested.';

/** Installs the daemon as a user service and starts it. Idempotent. */
export const daemonInstall = command({
  description: `Writes a systemd user unit with these options, enables it and starts it. A daemon that runs in the background is replaced. Run it again to update the service. ${untested}\nFor a service of the whole machine, install the Debian package or see packaging/systemd.`,
  flags: {
    ...daemonFlags,
    print: { help: 'show the service definition, and do nothing' },
    'no-start': { help: 'write the definition; the service starts at the next login' },
  },
  examples: {
    'start the daemon automatically': 'daemon install',
    'show the definition first': 'daemon install --print',
    'on another port': 'daemon install --port 7480',
  },
  async run({ flags }, context) {
    const port = flags.port === undefined ? [] : [`--port=${flags.port}`];
    const service = serviceHere(context, [...port, ...argumentsOf(flags)]);
    if (flags.print) return context.out.text(service.text);
    const written = put(service);
    const started = flags.start && (await start(service, context));
    await reportInstalled(context, service, { written, started, wanted: flags.start });
  },
});

/** Stops and deletes the user service. Idempotent. */
export const daemonUninstall = command({
  description: `Stops the service and deletes its definition. The registry is not changed. ${untested}`,
  examples: { 'start the daemon manually again': 'daemon uninstall' },
  async run(_, context) {
    const { out, globals } = context;
    const service = serviceHere(context, []);
    const found = existing(service);
    const stopped = found !== null && remove(service, found);
    if (globals.json) await out.document({ installed: false, removed: found !== null, file: service.file });
    else if (found === null) out.notice('No service is installed.');
    else
      out.notice(
        `${stopped ? 'The service was stopped, and' : 'The service was not running;'} ${service.file} was deleted. The registry in ${context.settings.home} was not changed.`,
      );
  },
});

/** Deletes the definition. Whether the service was running, and was stopped. */
function remove(service: Service, text: string): boolean {
  requireOurs(service, text);
  const isReachable = runStep(service.probe) === null;
  const wasRunning = isReachable && runStep(service.running) === null;
  const problem = isReachable ? firstFailure(service.stop) : null;
  if (problem !== null) throw failure(`the service could not be stopped: ${problem}`);
  rmSync(service.file, { force: true });
  if (isReachable) firstFailure(service.forget);
  return wasRunning;
}

function serviceHere({ settings, env }: Context, args: readonly string[]): Service {
  const self = selfCommand();
  const facts: ServiceFacts = {
    program: [self.file, ...self.args, 'daemon'],
    args,
    home: settings.home,
    userHome: homeOfUser(),
    userId: process.getuid?.() ?? 0,
    userName: `${env.USERDOMAIN ?? '.'}\\${env.USERNAME ?? ''}`,
    env,
  };
  if (process.platform === 'linux') return systemdService(facts, readPackaged('systemd/devmgr-user.service'));
  if (process.platform === 'darwin') return launchdService(facts);
  if (process.platform === 'win32') return scheduledTask(facts);
  throw failure(`services are not supported on ${process.platform}`, 'start it manually: devmgr daemon start');
}

function homeOfUser(): string {
  try {
    return homedir();
  } catch {
    throw failure('this user has no home folder, which a service needs', 'set HOME');
  }
}

/** The definition of the service on disk; null if there is none. */
function existing({ file, encoding }: Service): string | null {
  try {
    return readFileSync(file, encoding);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw failure(`${file} cannot be read: ${systemWords(error)}`);
  }
}

function requireOurs({ file }: Service, text: string): void {
  if (!text.includes(marker))
    throw failure(`${file} was not written by devmgr, so it is not changed`, 'move it to another folder first');
}

/** Writes the definition. False if it was already there. */
function put(service: Service): boolean {
  const { file, text, encoding } = service;
  const found = existing(service);
  if (found !== null) requireOurs(service, found);
  const bom = encoding === 'utf16le' ? '\ufeff' : '';
  if (found === bom + text) return false;
  writeWhole(file, bom + text, { encoding, mode: 0o644 });
  return true;
}

/** Whether the service is running now. If the service manager does not answer, a warning shows what is left to do. */
async function start(service: Service, context: Context): Promise<boolean> {
  const { settings, io, out } = context;
  const silence = runStep(service.probe);
  if (silence !== null) {
    out.warn(`${service.system} does not answer: ${silence}. The service was not started.\n${service.later}`);
    return false;
  }
  const before = await findDaemon(settings.home, io.interrupt);
  // Two daemons cannot use one home: the service would be restarted again and again.
  if (before) await stopDaemon(settings.home, io.interrupt);
  const problem = firstFailure(service.start);
  if (problem !== null) throw failure(`the service could not be started: ${problem}`, service.later);
  if (!(await awaitDaemon(settings.home, io.interrupt)))
    throw new Fault(
      'unreachable',
      'the service was started, but the daemon does not answer',
      `see ${service.log}; if the port is in use, choose another one: --port 7480`,
    );
  return true;
}

interface Result {
  readonly written: boolean;
  readonly started: boolean;
  readonly wanted: boolean;
}

async function reportInstalled(
  { out, globals, settings, io }: Context,
  { file, system, log, later, tested }: Service,
  { written, started, wanted }: Result,
): Promise<void> {
  const daemon = started ? await findDaemon(settings.home, io.interrupt) : null;
  if (globals.json)
    return out.document({
      installed: true,
      written,
      started,
      file,
      url: daemon?.url ?? null,
      pid: daemon?.pid ?? null,
    });
  if (globals.quiet) return out.text(`${file}\n`);
  out.notice(`${written ? 'Written' : 'Already up to date'}: ${file} (${system})`);
  if (!tested) out.warn(`This follows the documentation of ${system} and has not been tested.`);
  if (daemon) out.notice(`The daemon is running at ${daemon.url}, pid ${daemon.pid}. Its log: ${log}`);
  else if (!wanted) out.notice(`Not started. ${later}`);
}

/** `daemon install` and `daemon uninstall`: the daemon as a service that the system starts for this user. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { Fault, systemCode, systemWords } from '../../fault.ts';
import { launchdService } from '../../service/launchd.ts';
import { scheduledTask } from '../../service/scheduled-task.ts';
import { marker, type Service, type ServiceFacts } from '../../service/service.ts';
import { firstFailure, runStep } from '../../service/steps.ts';
import { systemdService } from '../../service/systemd.ts';
import { awaitDaemon, findDaemon, stopDaemon } from '../../session/local-daemon.ts';
import { readPackaged } from '../../settings/packaged.ts';
import { selfCommand } from '../../settings/self.ts';
import { argumentsOf } from './daemon.ts';
import { daemonFlags } from './run.ts';

const untested =
  'On macOS it is a launch agent, on Windows a scheduled task: both are written by the documentation of those systems and untested.';

export const daemonInstall = command({
  name: 'daemon install',
  summary: 'have the system start the daemon for this user',
  description: `Writes a user unit of systemd, enables and starts it; a daemon that runs in the background gives way to it. Done again, it brings the service up to date. The flags of the daemon are kept in it. ${untested}\nFor a service of the whole machine, install the Debian package or see packaging/systemd.`,
  flags: {
    ...daemonFlags,
    print: { help: 'show what would be written, and do nothing' },
    'no-start': { help: 'write it, and leave starting it to the next login' },
  },
  examples: [
    { does: 'from now on', line: 'daemon install' },
    { does: 'look first', line: 'daemon install --print' },
    { does: 'on another port', line: 'daemon install --port 7480' },
  ],
  async run({ flags }, context) {
    const port = flags.port === undefined ? [] : [`--port=${flags.port}`];
    const service = serviceHere(context, [...port, ...argumentsOf(flags)]);
    if (flags.print) return context.out.text(service.text);
    const written = put(service);
    const started = flags.noStart ? false : await start(service, context);
    await tellInstalled(context, service, { written, started, wanted: !flags.noStart });
  },
});

export const daemonUninstall = command({
  name: 'daemon uninstall',
  summary: 'have the system start the daemon no longer',
  description: `Ends the service and removes what "daemon install" has written, and nothing else: the registry stays where it is. ${untested}`,
  flags: {},
  examples: [{ does: 'go back to starting it by hand', line: 'daemon uninstall' }],
  async run(_, context) {
    const { out, globals } = context;
    const service = serviceHere(context, []);
    const found = existing(service);
    if (found !== null) {
      requireOurs(service, found);
      const failure = runStep(service.probe) === null ? firstFailure(service.stop) : null;
      if (failure !== null) throw new Fault('failure', `the service could not be ended: ${failure}`);
      rmSync(service.file, { force: true });
      if (runStep(service.probe) === null) firstFailure(service.forget);
    }
    if (globals.json) await out.document({ installed: false, removed: found !== null, file: service.file });
    else if (found === null) out.notice('No service is installed.');
    else
      out.notice(
        `The service has ended and ${service.file} is removed. The registry in ${context.settings.home} stays.`,
      );
  },
});

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
  throw new Fault('failure', `there is no service for ${process.platform}`, 'start it by hand: devmgr daemon start');
}

function homeOfUser(): string {
  try {
    return homedir();
  } catch {
    throw new Fault('failure', 'this user has no home folder to put a service into', 'set HOME');
  }
}

/** What is in the place of the service now; null where there is nothing. */
function existing({ file, encoding }: Service): string | null {
  try {
    return readFileSync(file, encoding);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw new Fault('failure', `${file} cannot be read: ${systemWords(error)}`);
  }
}

function requireOurs({ file }: Service, text: string): void {
  if (!text.includes(marker))
    throw new Fault('failure', `${file} was not written by devmgr and is left alone`, 'move it away first');
}

/** Writes the definition where it is not there already; tells whether it did. */
function put(service: Service): boolean {
  const { file, text, encoding } = service;
  const found = existing(service);
  if (found !== null) requireOurs(service, found);
  const bom = encoding === 'utf16le' ? '\ufeff' : '';
  if (found === bom + text) return false;
  const aside = `${file}.${process.pid}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(aside, bom + text, { encoding, mode: 0o644 });
    renameSync(aside, file);
  } catch (error) {
    rmSync(aside, { force: true });
    throw new Fault('failure', `${file} cannot be written: ${systemWords(error)}`);
  }
  return true;
}

/** Tells whether it runs now; where the system does not listen, says what is left to do. */
async function start(service: Service, context: Context): Promise<boolean> {
  const { settings, io, out } = context;
  const deaf = runStep(service.probe);
  if (deaf !== null) {
    out.warn(`${service.system} does not answer: ${deaf}. Nothing was started.\n${service.later}`);
    return false;
  }
  const before = await findDaemon(settings.home, io.interrupt);
  // Ours or one in the background: two cannot hold one home, and the service would be started again and again.
  if (before) await stopDaemon(settings.home, io.interrupt);
  const failure = firstFailure(service.start);
  if (failure !== null) throw new Fault('failure', `the service could not be started: ${failure}`, service.later);
  if (!(await awaitDaemon(settings.home, io.interrupt)))
    throw new Fault(
      'unreachable',
      'the service was started and the daemon does not answer',
      `see ${service.log}; where the port is taken, name another: --port 7480`,
    );
  return true;
}

interface Outcome {
  readonly written: boolean;
  readonly started: boolean;
  readonly wanted: boolean;
}

async function tellInstalled(
  { out, globals, settings, io }: Context,
  { file, system, log, later, tested }: Service,
  { written, started, wanted }: Outcome,
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
  out.notice(`${written ? 'Written' : 'In place already'}: ${file} (${system})`);
  if (!tested) out.warn(`This was written by the documentation of ${system} and has not been tested.`);
  if (daemon) out.notice(`The daemon runs at ${daemon.url}, pid ${daemon.pid}. Its log: ${log}`);
  else if (!wanted) out.notice(`Not started. ${later}`);
}

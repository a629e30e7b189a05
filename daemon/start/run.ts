import { endProcess, nativeCallsOut } from '../../drivers/index.ts';
import { daemonSettings } from '../../src/contract/daemon-settings.ts';
import type { ListeningLine } from '../../src/contract/local.ts';
import type { ProgramIo, RunOptions } from '../../src/contract/programs.ts';
import { createLogger, destinationOf, HeldLines, type Logger } from '../base/logger.ts';
import { StartRefused } from '../base/start-refused.ts';
import { readSettings } from '../home/given-settings.ts';
import type { DaemonSettings } from '../home/settings.ts';
import { type RunningDaemon, startDaemon } from './main.ts';
import { print, reporting } from './program-io.ts';

declare const DEVMGR_VERSION: string | undefined;

/** Version of the program, set by the build; `0.0.0-source` if it runs from the sources. */
const version: string = typeof DEVMGR_VERSION === 'string' ? DEVMGR_VERSION : '0.0.0-source';

/** Options of the command line, and those that only tests set. */
type RunSettings = RunOptions & Pick<DaemonSettings, 'passwordCost'>;

/** Runs the daemon in the foreground until SIGTERM or SIGINT; resolves to the exit code. */
export async function run(options: RunSettings, io: ProgramIo): Promise<number> {
  const exitCode = await reporting(io, options.json, () => runUntilEnd(options, io));
  // A call into the hardware that never returns would keep a normal exit waiting forever.
  return nativeCallsOut() > 0 ? endProcess(exitCode) : exitCode;
}

async function runUntilEnd(options: RunSettings, io: ProgramIo): Promise<number> {
  const { home, json, verbose, passwordCost } = options;
  const read = readSettings(options, io.env);
  const settings: DaemonSettings = { ...read, home, json, verbose, hardware: true, passwordCost };
  const isNamed = Boolean(options.node ?? io.env[daemonSettings.node.variable]);
  // A start that is refused writes one line: what it has logged for people before is not the reason.
  const lines = options.json || options.verbose ? null : new HeldLines(destinationOf(options));
  process.once('uncaughtExceptionMonitor', () => lines?.release());
  // For people, the name of the host would be noise on each line.
  const log = createLogger(
    { ...settings, node: options.json || isNamed ? settings.node : undefined },
    lines ?? undefined,
  );
  const ended = untilSignal(log);
  const starting = startDaemon(settings, version, log);
  // Registered early: without a listener, the signal would end a daemon that is still starting.
  process.on('SIGHUP', () => void starting.then(daemon => daemon.reload()).catch(() => {}));
  const daemon = await starting.catch(error => {
    if (!(error instanceof StartRefused)) lines?.release();
    throw error;
  });
  lines?.release();
  await announce(daemon, options, io);
  const exitCode = await ended;
  log.info('stopping');
  await daemon.stop();
  log.info('stopped');
  return exitCode;
}

async function announce(daemon: RunningDaemon, options: RunOptions, io: ProgramIo): Promise<void> {
  const line: ListeningLine = { event: 'listening', url: daemon.url };
  if (options.json) await print(io.stdout, `${JSON.stringify(line)}\n`);
  if (daemon.initialPassword && io.stderrIsTerminal)
    await print(io.stderr, `\nFirst administrator's password, shown this once: ${daemon.initialPassword}\n\n`);
}

/** Resolves with the exit code at the first SIGTERM or SIGINT, or at an uncaught error; a second signal ends the process at once. */
function untilSignal(log: Logger): Promise<number> {
  return new Promise(resolve => {
    const onSignal = (signal: NodeJS.Signals) => {
      process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
      resolve(0);
    };
    process.once('SIGTERM', onSignal);
    process.once('SIGINT', onSignal);
    process.on('uncaughtException', error => {
      if (isFromNativeLibrary(error)) {
        log.error({ err: error }, 'a hardware library failed outside of any call; the daemon keeps running');
        return;
      }
      log.fatal({ err: error }, 'unexpected error; the daemon stops');
      resolve(1);
    });
  });
}

/** If a key is unplugged at the wrong moment, the USB and smart-card libraries throw where no code can catch the error. */
function isFromNativeLibrary(error: unknown): boolean {
  return (
    error instanceof Error &&
    /node_modules[\\/](usb|@node-usb|node-hid|pcsc-mini|@pcsc-mini)[\\/]/.test(error.stack ?? '')
  );
}

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRefusal } from '../../client/failures.ts';
import { type Context, createContext } from '../../context.ts';
import { command } from '../../define.ts';
import { Fault, systemWords, usage } from '../../fault.ts';
import { isNodeGood, leastNode } from '../../node-version.ts';
import { indent } from '../../present.ts';
import { findDaemon, healthAt } from '../../session/local-daemon.ts';
import { isLocalServer } from '../../settings/settings.ts';
import { safe, safeProse } from '../../terminal/text.ts';
import { relative } from '../../terminal/when.ts';
import { wrapped } from '../../terminal/width.ts';

type State = 'ok' | 'warning' | 'failed';

/** `fix` is what to type or do. */
export interface Check {
  readonly name: string;
  readonly state: State;
  readonly detail: string;
  readonly fix: string | null;
}

export const doctor = command({
  name: 'doctor',
  summary: 'look for what is wrong, and how to mend it',
  description:
    'Looks at this program, the home folder, the daemon, the server, the login and the hardware. Starts and changes nothing. Exit code 1 where a check failed.\nWith --report it writes what it found, versions, settings and the end of the log of the daemon into a file for whoever helps; secrets, names, hosts and serial numbers are taken out. Read it before you send it.\nWith --fix it installs the udev and polkit rules that open keys and readers to the group devmgr: it shows them, asks, and needs root.',
  args: [
    { name: 'FILE', help: 'with --report: the file to write; - is standard output', optional: true, offer: 'file' },
  ],
  flags: {
    report: { help: 'write a report for whoever helps (default: devmgr-report-TIME.txt in this folder)' },
    force: { help: 'with --report: overwrite' },
    fix: { help: 'install the rules for keys and readers' },
    yes: { short: 'y', help: 'with --fix: do not ask' },
    root: { value: 'DIR', offer: 'folder', help: 'with --fix: write below this folder, such as a system image' },
  },
  examples: [
    { does: 'what is wrong?', line: 'doctor' },
    { does: 'for a script', line: 'doctor --json' },
    { does: 'for whoever helps', line: 'doctor --report' },
    { does: 'open keys to a group', line: 'doctor --fix' },
  ],
  async run({ args, flags }, given) {
    if (flags.report && flags.fix) throw usage('--report and --fix do not go together');
    if ((args[0] !== undefined || flags.force) && !flags.report) throw usage('FILE and --force go with --report');
    if (flags.fix) {
      const { fix } = await import('./fix.ts');
      return fix(given, flags);
    }
    if (flags.yes || flags.root !== undefined) throw usage('--yes and --root go with --fix');
    const context = createContext({ ...given, globals: { ...given.globals, noAutostart: true } });
    const checks = await examine(context);
    if (flags.report) {
      const { report } = await import('./report.ts');
      return report(context, checks, { file: args[0], force: flags.force });
    }
    const failed = checks.some(check => check.state === 'failed');
    if (context.globals.json) await context.out.document({ ok: !failed, checks });
    else await context.out.text(checks.map(check => lines(context, check)).join(''));
    return failed ? 1 : 0;
  },
});

async function examine(context: Context): Promise<readonly Check[]> {
  const checks: Check[] = [nodeCheck(), homeCheck(context.settings.home)];
  checks.push(await serverCheck(context));
  if (checks.at(-1)!.state !== 'failed') checks.push(await loginCheck(context), ...(await hardwareChecks(context)));
  return checks;
}

function lines({ io, out }: Context, { name, state, detail, fix }: Check): string {
  const mark =
    state === 'ok' ? out.paint('green', '✓') : state === 'warning' ? out.paint('yellow', '!') : out.paint('red', '✗');
  const before = 13;
  const words = safeProse(detail)
    .split('\n')
    .flatMap(line => wrapped(line, io.columns - before))
    .join(`\n${' '.repeat(before)}`);
  return `${mark} ${out.paint('bold', name.padEnd(10))} ${words}\n${fix && state !== 'ok' ? `    ${out.paint('cyan', '→')} ${indent(indent(indent(safeProse(fix)))).trim()}\n` : ''}`;
}

function nodeCheck(): Check {
  return {
    name: 'node',
    state: isNodeGood(process.versions.node) ? 'ok' : 'failed',
    detail: `${process.versions.node} on ${process.platform} ${process.arch}`,
    fix: `install Node ${leastNode} or later`,
  };
}

function homeCheck(home: string): Check {
  try {
    if (!existsSync(home)) {
      checkMakeable(dirname(home));
      return { name: 'home', state: 'ok', detail: `${home} (made at the first start)`, fix: null };
    }
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const open = process.platform !== 'win32' && (statSync(home).mode & 0o077) !== 0;
    return open
      ? { name: 'home', state: 'warning', detail: `${home} can be read by other users`, fix: `chmod 700 ${home}` }
      : { name: 'home', state: 'ok', detail: home, fix: null };
  } catch (error) {
    return {
      name: 'home',
      state: 'failed',
      detail: `${home} cannot be used: ${systemWords(error)}`,
      fix: 'name another folder with --home DIR or DEVMGR_HOME',
    };
  }
}

/** A fault where nothing can be made in the nearest folder there is. */
function checkMakeable(folder: string): void {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  if (!statSync(nearest).isDirectory()) throw new Error(`${nearest} is no folder`);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`nothing can be made in ${nearest} (${systemWords(error)})`);
  }
}

async function serverCheck({ settings, io, registry }: Context): Promise<Check> {
  if (isLocalServer(settings)) {
    const found = await findDaemon(settings.home, io.interrupt);
    if (!found)
      return {
        name: 'daemon',
        state: 'failed',
        detail: `does not run (home ${settings.home})`,
        fix: 'devmgr daemon start',
      };
    const { health, url, pid } = found;
    const detail = `${url}, pid ${pid}, version ${health.version}`;
    return health.ready && health.status === 'ok'
      ? { name: 'daemon', state: 'ok', detail, fix: null }
      : { name: 'daemon', state: 'failed', detail: `${detail}: not ready`, fix: 'devmgr daemon logs says why' };
  }
  try {
    const health = await registry.call('health');
    const detail = `${settings.server}, ${health.service} ${health.version}`;
    return {
      name: 'server',
      state: health.ready ? 'ok' : 'failed',
      detail,
      fix: health.ready ? null : 'its operator has to look at its log',
    };
  } catch (error) {
    if (error instanceof Fault && error.kind === 'interrupted') throw error;
    const alive = await healthAt(settings.server ?? '', io.interrupt);
    const words = error instanceof Error ? error.message : String(error);
    const fix = error instanceof Fault ? error.hint : null;
    return {
      name: 'server',
      state: 'failed',
      detail: words,
      fix: alive ? 'name the certificate of its authority with --ca FILE' : (fix ?? 'check the address: --server URL'),
    };
  }
}

async function loginCheck({ registry, settings }: Context): Promise<Check> {
  const logIn = settings.token === null ? 'devmgr login' : 'unset or replace DEVMGR_TOKEN';
  try {
    const me = await registry.call('me');
    const from = settings.token === null ? '' : ', by DEVMGR_TOKEN';
    return { name: 'login', state: 'ok', detail: `${me.username} (${me.role})${from}`, fix: null };
  } catch (error) {
    if (isRefusal(error) || (error instanceof Fault && error.kind === 'login'))
      return { name: 'login', state: 'warning', detail: error.message, fix: logIn };
    throw error;
  }
}

async function hardwareChecks(context: Context): Promise<Check[]> {
  try {
    const { list, drivers } = await context.hardware.call('listKeys');
    const checks = drivers.map((driver): Check => {
      const [detail, ...rest] = driver.detail.split('\n');
      return {
        name: safe(driver.name),
        state: driver.state === 'ready' ? 'ok' : 'warning',
        detail: detail ?? '',
        fix: rest.join('\n') || null,
      };
    });
    for (const key of list)
      checks.push({
        name: 'key',
        state: key.problem === null ? 'ok' : 'warning',
        detail: `${[key.deviceType, key.serialNumber ?? 'no readable serial', key.manufacturer, key.model].filter(Boolean).join('  ')}, plugged in ${relative(key.attachedAt)}${key.simulated ? ', simulated' : ''}`,
        fix: key.problem,
      });
    return checks;
  } catch (error) {
    if (error instanceof Fault && error.kind === 'interrupted') throw error;
    const words = error instanceof Error ? error.message : String(error);
    return [
      {
        name: 'hardware',
        state: 'warning',
        detail: `what is plugged in cannot be asked: ${words}`,
        fix: error instanceof Fault ? error.hint : 'devmgr login',
      },
    ];
  }
}

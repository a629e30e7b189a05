import { Code } from '../../../contract/codes.ts';
import { daemonSettings } from '../../../contract/daemon-settings.ts';
import type { Key } from '../../../contract/hardware.ts';
import { KeyEnrollment } from '../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../enrollment/outcome.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { Fault, failure, isFault } from '../../fault.ts';
import { need, readPassword } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { claimsRecorded } from '../../framework/devices/registration.ts';
import { passwordFlags } from '../../framework/flags.ts';
import { poll } from '../../retry.ts';
import { firstAdmin, firstPasswordFile } from '../../session/first-password.ts';
import { findDaemon, stopDaemon } from '../../session/local-daemon.ts';
import { registryFlags } from '../../settings/daemon-start.ts';
import { textIn } from '../../settings/files.ts';
import { isLocalServer } from '../../settings/settings.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { startNow } from '../daemon/daemon.ts';
import { enrollmentParts } from '../enrollment/enroll/enrollment-parts.ts';
import { EnrollReport } from '../enrollment/enroll/report.ts';
import { logIn } from '../sign-in/login.ts';

/** How long to wait for a real key. */
const realKeyMs = 2_000;
const pollMs = 200;

/** Starts a daemon, logs in, and enrolls one key. Steps that are already done are skipped. */
export const quickstart = command({
  description:
    'Starts the daemon on this machine, logs in as its first administrator, and enrolls one key: an attached key or, if there is none, a simulated key, which is marked as simulated. Steps that are already done are skipped.',
  flags: { ...passwordFlags },
  makesProfile: () => true,
  examples: { 'try it': 'quickstart' },
  async run({ flags }, context) {
    const started = await bringUp(context, []);
    const user = await logInFirst(context, flags);
    const key = await findKey(context, started);
    const report = new EnrollReport(context, null, 1, null);
    const options = { manufacturer: null, model: null, activateFor: null, proof: null, tags: null, dryRun: false };
    const outcome = await new KeyEnrollment(enrollmentParts(context), options).handle(key);
    if (context.globals.json)
      await context.out.document({ server: await context.registry.address(), user, key: outcome });
    else await report.row(outcome, { done: 1, failed: 0 });
    if (outcome.result === 'failed')
      throw failure(`the key could not be enrolled: ${outcome.message}`, 'see the attached keys: devmgr keys');
    if (!context.globals.json) await nextSteps(context, outcome);
    await claimsRecorded(context);
  },
});

const say = async ({ globals, out }: Context, text: string) => (globals.json ? undefined : out.prose(text));

/** Starts the daemon. False if it was already running, or is not local. */
async function bringUp(context: Context, args: readonly string[]): Promise<boolean> {
  const { settings, io } = context;
  if (!isLocalServer(settings)) return false;
  const running = await findDaemon(settings.home, io.interrupt);
  if (running) {
    await say(context, `The daemon is running at ${running.url} (pid ${running.pid}).`);
    return false;
  }
  const { url, pid } = await startNow(context, null, [...registryFlags(settings.home), ...args]);
  if (args.length) await say(context, `Restarted the daemon with that key at ${url} (pid ${pid}).`);
  else await say(context, `Started the daemon at ${url} (pid ${pid}). All its data is in ${settings.home}.`);
  return true;
}

async function logInFirst(
  context: Context,
  flags: Parameters<typeof readPassword>[1],
): Promise<{ id: string; username: string; role: string }> {
  const { settings, env } = context;
  const present = await whoIsLoggedIn(context);
  if (present) {
    await say(context, `Logged in as ${safe(present.username)} (${safe(present.role)}).`);
    return present;
  }
  const file = firstPasswordFile(settings);
  const given = flags.passwordStdin || flags.passwordFile !== undefined;
  const stored = file === null ? null : textIn(file, 'the first password').trim();
  const first = given ? null : stored || (env[daemonSettings.admin.password.variable] ?? null);
  if (first === null && !given && !context.canAsk)
    throw new Fault('login', 'not logged in, and the initial password was already changed', context.loginHint());
  const username =
    first === null
      ? await need(context, settings.username ?? (given ? 'admin' : undefined), {
          flag: '--username',
          question: 'User name',
        })
      : firstAdmin(env);
  const password = first ?? (await readPassword(context, flags, `Password of ${username}`));
  const { user } = await logIn(context, username, password);
  await say(context, `Logged in as ${safe(user.username)} (${safe(user.role)}).`);
  if (file !== null) {
    await say(context, `The initial password is in ${file}.`);
    await say(context, 'Set your own: devmgr users passwd');
  }
  return user;
}

/** Null if there is no valid login. */
async function whoIsLoggedIn(context: Context) {
  try {
    return await context.registry.call('getOwnUser');
  } catch (error) {
    if (isServerRefusal(error, Code.tokenInvalid, Code.tokenExpired) || isFault(error, 'login')) return null;
    throw error;
  }
}

async function findKey(context: Context, started: boolean): Promise<Key> {
  const { settings, io, out } = context;
  const plugged = await out.progress.during('Looking for a key', waitForKey(context));
  if (plugged) return plugged;
  if (!started && !(await mayRestart(context)))
    throw new Fault(
      'hardware',
      'no key is attached',
      'plug in a key and run: devmgr quickstart. For a simulated key: devmgr daemon stop, then devmgr quickstart',
    );
  await say(context, 'No key is attached. A simulated key is used, and marked as such everywhere.');
  await stopDaemon(settings.home, io.interrupt);
  await bringUp(context, ['--simulate-keys=1']);
  // The address may have changed.
  await context.registry.currentAddress();
  const simulated = await waitForKey(context);
  if (simulated) return simulated;
  throw new Fault('hardware', 'the simulated key did not appear', 'find the cause: devmgr doctor');
}

async function mayRestart(context: Context): Promise<boolean> {
  if (!context.canAsk || !isLocalServer(context.settings)) return false;
  return confirm(context.out, 'No key is attached. Restart the daemon with a simulated one?');
}

/** A key with a readable serial number, a real one if there is one; null if none appears in time. */
async function waitForKey(context: Context): Promise<Key | null> {
  let problems: readonly string[] = [];
  const search = async () => {
    const { list } = await context.hardware.call('listKeys');
    const readable = list.filter(key => key.serialNumber !== null);
    problems = list.flatMap(key => (key.serialNumber === null && key.problem ? [key.problem] : []));
    return readable.find(found => !found.simulated) ?? readable[0] ?? null;
  };
  const key = await poll(search, { everyMs: pollMs, forMs: realKeyMs, signal: context.io.interrupt });
  if (key === null) for (const problem of problems) context.out.notice(`A key is attached, but ${safe(problem)}`);
  return key;
}

async function nextSteps({ out }: Context, outcome: EnrollmentOutcome): Promise<void> {
  const device = safe(outcome.deviceId ?? 'DEVICE');
  const lines: [string, string][] = [];
  if (outcome.status === 'INACTIVE')
    lines.push([
      `devmgr activate ${device} --code ${safe(outcome.activationCode ?? 'CODE')} --user alice`,
      'bind it to a user',
    ]);
  lines.push(
    ['devmgr list', 'list all devices'],
    [`devmgr show ${device}`, 'show this device'],
    ['devmgr enroll', 'register the next keys as you plug them in'],
    ['devmgr open', 'open the console in your browser'],
    ['devmgr daemon stop', 'stop the daemon; the next command restarts it'],
    ['devmgr --help', 'the commands'],
  );
  const { wrapped } = await import('../../terminal/card.ts');
  out.notice(`\nNext steps:\n${stepLines(lines, out, wrapped).join('\n')}`);
}

/** Description of each command, beside it; above it if the terminal has no room for that: a command stays in one line. */
function stepLines(
  steps: readonly (readonly [line: string, what: string])[],
  { io, tint }: Context['out'],
  wrapped: (text: string, cells: number) => string[],
): string[] {
  const width = Math.max(...steps.map(([line]) => line.length));
  const isWide = steps.every(([, what]) => 2 + width + 2 + what.length <= io.columns);
  return steps.flatMap(([line, what]) =>
    isWide
      ? [`  ${tint('bold', line.padEnd(width))}  ${what}`]
      : [...wrapped(what, io.columns - 4).map(part => `  # ${part}`), `  ${tint('bold', line)}`],
  );
}

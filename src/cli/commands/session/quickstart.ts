import { join } from 'node:path';
import type { Key } from '../../../contract/hardware.ts';
import { environment, homeFiles } from '../../../contract/local.ts';
import { need, readPassword } from '../../ask.ts';
import { isRefusal } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { Fault } from '../../fault.ts';
import { passwordFlags } from '../../globals.ts';
import { findDaemon, startDaemon, stopDaemon } from '../../session/local-daemon.ts';
import { isLocalServer } from '../../settings/settings.ts';
import { ask } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { Enrolment, type Outcome } from '../enroll/enroll-key.ts';
import { EnrollReport } from '../enroll/report.ts';
import { initialPassword, logIn } from './login.ts';

/** How long a real key has to show up, after the daemon has begun to look. */
const realKeyMs = 2_000;
const pollMs = 200;

export const quickstart = command({
  name: 'quickstart',
  summary: 'from nothing to the first enrolled key',
  description:
    'Starts the daemon of this machine where none runs, logs in as its first administrator, and enrolls one key: one that is plugged in, else a simulated one, marked as such. What is done already is left as it is.',
  flags: { ...passwordFlags },
  makesProfile: () => true,
  examples: [{ does: 'try it', line: 'quickstart' }],
  async run({ flags }, context) {
    const started = await bringUp(context, []);
    const user = await logInFirst(context, flags);
    const key = await findKey(context, started);
    const report = new EnrollReport(context, null, 1);
    const options = { manufacturer: null, model: null, activateFor: null, dryRun: false };
    const outcome = await new Enrolment(context, options).handle(key);
    if (context.globals.json)
      await context.out.document({ server: await context.registry.address(), user, key: outcome });
    else await report.row(outcome, { done: 1, failed: 0 });
    if (outcome.result === 'failed')
      throw new Fault(
        'failure',
        `the key could not be enrolled: ${outcome.message}`,
        'devmgr keys shows what is plugged in',
      );
    if (!context.globals.json) await nextSteps(context, outcome);
  },
});

/** True where a daemon was started just now. */
async function bringUp(context: Context, args: readonly string[]): Promise<boolean> {
  const { settings, io, out, globals } = context;
  const say = (text: string) => (globals.json ? undefined : out.notice(text));
  if (!isLocalServer(settings)) return false;
  const running = await findDaemon(settings.home, io.interrupt);
  if (running) {
    say(`The daemon runs at ${running.url} (pid ${running.pid}).`);
    return false;
  }
  const info = await startDaemon({ home: settings.home, port: null, args, signal: io.interrupt });
  if (args.length) say(`Started the daemon again, with that key, at ${info.url} (pid ${info.pid}).`);
  else say(`Started the daemon at ${info.url} (pid ${info.pid}); everything it keeps is in ${settings.home}.`);
  return true;
}

async function logInFirst(
  context: Context,
  flags: Parameters<typeof readPassword>[1],
): Promise<{ id: string; username: string; role: string }> {
  const { settings, out, globals, env } = context;
  const say = (text: string) => (globals.json ? undefined : out.notice(text));
  const present = await whoIsLoggedIn(context);
  if (present) {
    say(`Logged in as ${safe(present.username)} (${safe(present.role)}).`);
    return present;
  }
  const file = join(settings.home, homeFiles.initialPassword);
  const given = flags.passwordStdin || flags.passwordFile !== undefined;
  const first = given ? null : (initialPassword(file) ?? env[environment.adminPassword] ?? null);
  if (first === null && !given && !context.canAsk)
    throw new Fault(
      'login',
      'nobody is logged in, and the first password is no longer in force',
      'log in: devmgr login',
    );
  const username =
    first === null
      ? await need(context, settings.username ?? (given ? 'admin' : undefined), '--username', 'User name')
      : env[environment.adminUsername] || 'admin';
  const password = first ?? (await readPassword(context, flags, `Password of ${username}`));
  const { user } = await logIn(context, username, password);
  say(`Logged in as ${safe(user.username)} (${safe(user.role)}).`);
  if (initialPassword(file) !== null) say(`  The first password is in ${file}; set your own with: devmgr users passwd`);
  return user;
}

/** Null where nobody is, or no longer. */
async function whoIsLoggedIn(context: Context) {
  try {
    return await context.registry.call('me');
  } catch (error) {
    if (isRefusal(error, 1004, 1005) || (error instanceof Fault && error.kind === 'login')) return null;
    throw error;
  }
}

async function findKey(context: Context, started: boolean): Promise<Key> {
  const { settings, io, out, globals } = context;
  const say = (text: string) => (globals.json ? undefined : out.notice(text));
  const plugged = await waitForKey(context);
  if (plugged) return plugged;
  if (!started && !(await mayRestart(context)))
    throw new Fault(
      'hardware',
      'no key is plugged in',
      'plug one in and run: devmgr quickstart; or, to try with a simulated key: devmgr daemon stop, then devmgr quickstart',
    );
  say('No key is plugged in: a simulated one is used, and marked as such wherever it shows.');
  await stopDaemon(settings.home, io.interrupt);
  await bringUp(context, ['--simulate-keys=1']);
  // Its address may be another one now.
  await context.registry.whereabouts();
  const simulated = await waitForKey(context);
  if (simulated) return simulated;
  throw new Fault('hardware', 'not even a simulated key shows up', 'devmgr doctor looks for the cause');
}

async function mayRestart(context: Context): Promise<boolean> {
  if (!context.canAsk || !isLocalServer(context.settings)) return false;
  const answer = await ask(context.io, {
    text: 'No key is plugged in. Restart the daemon with a simulated one? [y/N] ',
  });
  return /^y(es)?$/i.test(answer.trim());
}

/** A key whose serial can be read, a real one before a simulated one; null where none shows up in time. */
async function waitForKey(context: Context): Promise<Key | null> {
  const deadline = Date.now() + realKeyMs;
  for (;;) {
    const { list } = await context.hardware.call('listKeys');
    const readable = list.filter(key => key.serialNumber !== null);
    const key = readable.find(found => !found.simulated) ?? readable[0];
    if (key) return key;
    if (Date.now() > deadline) {
      for (const { serialNumber, problem } of list)
        if (serialNumber === null && problem) context.out.notice(`A key is plugged in, but ${safe(problem)}`);
      return null;
    }
    await context.registry.pause(pollMs);
  }
}

async function nextSteps({ out }: Context, outcome: Outcome): Promise<void> {
  const device = safe(outcome.deviceId ?? 'DEVICE');
  const lines: [string, string][] = [];
  if (outcome.status === 'INACTIVE')
    lines.push([
      `devmgr activate ${device} --code ${safe(outcome.activationCode ?? 'CODE')} --user alice`,
      'bind it to somebody',
    ]);
  lines.push(
    ['devmgr list', 'every device'],
    [`devmgr show ${device}`, 'this one'],
    ['devmgr enroll', 'the next keys, as you plug them in'],
    ['devmgr daemon stop', 'end the daemon; the next command starts it again'],
    ['devmgr --help', 'everything else'],
  );
  const width = Math.max(...lines.map(([line]) => line.length));
  out.notice(
    `\nWhat to type next:\n${lines.map(([line, what]) => `  ${out.tint('bold', line.padEnd(width))}  ${what}`).join('\n')}`,
  );
}

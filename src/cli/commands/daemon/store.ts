import { resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { usage } from '../../fault.ts';
import { csvFlag } from '../../globals.ts';
import type { ProgramIo } from '../../programs.ts';
import { ask } from '../../terminal/prompt.ts';

const programIo = ({ io, env }: Context): ProgramIo => ({
  stdout: io.stdout,
  stderr: io.stderr,
  env,
  stdoutIsTerminal: io.stdoutIsTerminal,
  stderrIsTerminal: io.stderrIsTerminal,
});

const fileArg = (help: string) => [{ name: 'FILE', help, offer: 'file' }] as const;

export const daemonBackup = command({
  name: 'daemon backup',
  summary: 'copy the registry to a file',
  description: 'Also while the daemon runs.',
  args: fileArg('the file to write; it must not exist'),
  flags: {},
  examples: [{ does: 'a copy of today', line: 'daemon backup registry-2026-11-20.db' }],
  run: ({ args }, context) =>
    context.programs.backup(
      { home: context.settings.home, json: context.globals.json, file: resolve(args[0]!) },
      programIo(context),
    ),
});

export const daemonRestore = command({
  name: 'daemon restore',
  summary: 'put a copy of the registry back',
  description: 'The registry that is there is kept beside it. Refused while the daemon runs.',
  args: fileArg('a file that daemon backup has written'),
  flags: { yes: { short: 'y', help: 'do not ask' } },
  examples: [{ does: 'go back to a copy', line: 'daemon restore registry-2026-11-20.db --yes' }],
  async run({ args, flags }, context) {
    if (!flags.yes) {
      if (!context.canAsk) throw usage('restoring replaces the registry and has to be confirmed', 'give --yes');
      const answer = await ask(context.io, {
        text: `Replace the registry in ${context.settings.home}? Type yes to go on: `,
      });
      if (answer.trim().toLowerCase() !== 'yes') throw usage('not confirmed: nothing was changed');
    }
    return context.programs.restore(
      { home: context.settings.home, json: context.globals.json, file: resolve(args[0]!) },
      programIo(context),
    );
  },
});

export const daemonCheck = command({
  name: 'daemon check',
  summary: 'check the registry on disk',
  flags: {},
  examples: [{ does: 'is everything whole?', line: 'daemon check' }],
  run: (_, context) =>
    context.programs.check({ home: context.settings.home, json: context.globals.json }, programIo(context)),
});

export const daemonRotateKey = command({
  name: 'daemon rotate-key',
  summary: 'make a new signing key for tokens',
  description: 'Tokens given so far stay good until they expire. A daemon that runs takes the key up at once.',
  flags: {},
  examples: [{ does: 'once a year', line: 'daemon rotate-key' }],
  run: (_, context) =>
    context.programs.rotateKey({ home: context.settings.home, json: context.globals.json }, programIo(context)),
});

export const daemonResetPassword = command({
  name: 'daemon reset-password',
  summary: 'make a new password for a user who has lost it',
  description:
    'For the last administrator: anybody else is helped with users passwd. The password goes to standard output, and every login of the user ends. Refused while the daemon runs.',
  args: [{ name: 'USER', help: 'whose password' }],
  flags: {},
  examples: [{ does: 'when nobody can log in', line: 'daemon reset-password admin' }],
  run: ({ args }, context) =>
    context.programs.resetPassword(
      { home: context.settings.home, json: context.globals.json, username: args[0]! },
      programIo(context),
    ),
});

export const daemonAudit = command({
  name: 'daemon audit',
  summary: 'write the audit log',
  description:
    'Who did what to which device, with its serial number, the oldest first. Read from the registry on disk; the daemon may run.',
  flags: {
    device: { value: 'DEVICE', offer: 'device', help: 'only this deviceId or serial number' },
    user: { value: 'USER', help: 'only what this user did' },
    type: { value: 'TYPE', many: true, help: 'only entries of these types' },
    since: { value: 'ID', whole: { min: 0 }, help: 'only entries after this event id' },
    from: { value: 'TIME', help: 'only from this time on (ISO 8601)' },
    to: { value: 'TIME', help: 'only up to this time (ISO 8601)' },
    limit: { value: 'N', short: 'n', whole: { min: 1 }, help: 'only the last so many' },
    verify: { help: 'check that nothing was changed or taken out, and say so' },
    ...csvFlag,
  },
  examples: [
    { does: 'the story of a key', line: 'daemon audit --device UK-2026-000001' },
    { does: 'for a spreadsheet', line: 'daemon audit --from 2026-01-01 --csv' },
    { does: 'is the log whole?', line: 'daemon audit --verify' },
  ],
  run: ({ flags }, context) =>
    context.programs.audit(
      {
        home: context.settings.home,
        json: context.globals.json,
        device: flags.device ?? null,
        user: flags.user ?? null,
        types: flags.type.length ? flags.type.map(type => type.toUpperCase()) : null,
        since: flags.since ?? null,
        from: timeOf('--from', flags.from),
        to: timeOf('--to', flags.to),
        limit: flags.limit ?? null,
        verify: flags.verify,
        csv: flags.csv,
      },
      programIo(context),
    ),
});

function timeOf(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw usage(`${flag} must be a time such as 2026-03-01 or 2026-03-01T08:30:00Z, not "${text}"`);
  return time;
}

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { daemonSettings } from '../../../contract/daemon-settings.ts';
import type { ProgramIo } from '../../../contract/programs.ts';
import { isFault, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { eventFlags, placeOf } from '../../framework/devices/event-selection.ts';
import type { FlagShapes } from '../../framework/flags.ts';
import { fileFlag, yesFlag } from '../../framework/flags.ts';
import { csvFlags } from '../../framework/format.ts';
import { warnOfOthers } from '../../framework/secret-file.ts';
import { demandYes } from '../../terminal/prompt.ts';

/** Output of a program of the daemon. Its JSON is written line by line in the format that the flags name. */
export const programIo = ({ io, env, out }: Context): ProgramIo => ({
  stdout:
    out.isSelective || (out.json && out.format !== 'json')
      ? jsonLines(text => out.document(JSON.parse(text)))
      : io.stdout,
  stderr: io.stderr,
  env,
  stdoutIsTerminal: io.stdoutIsTerminal,
  stderrIsTerminal: io.stderrIsTerminal,
});

/** Standard output of a command with many rows, which may have a pager. */
const pagedIo = (context: Context): ProgramIo => ({
  ...programIo(context),
  stdout: context.out.json
    ? jsonLines(text => context.out.row(JSON.parse(text)))
    : writing(text => context.io.write(text)),
});

const jsonLines = (write: (line: string) => Promise<void>): Writable =>
  writing(async text => {
    for (const line of text.split('\n')) if (line !== '') await write(line);
  });

/** A pager that is left is a reader that has gone. */
const writing = (write: (text: string) => Promise<unknown>): Writable =>
  new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      write(text).then(
        () => done(),
        error => done(isReaderLeft(error) ? Object.assign(new Error('closed'), { code: 'EPIPE' }) : error),
      );
    },
  });

const isReaderLeft = (error: unknown): boolean => isFault(error, 'closed');

/** Flags of the commands that work with the registry itself: its place, as for `daemon run`. */
export const registryFlags = {
  store: { value: 'URL', help: 'the registry is in PostgreSQL: postgres://USER@HOST:PORT/DATABASE' },
  secrets: {
    value: 'DIR',
    offer: 'file',
    help: 'the keys of the registry are in this folder, outside the home folder',
  },
} as const satisfies FlagShapes;

/** Options that each of these commands gives its program beside its flags. */
export const homeOf = ({ settings, globals }: Context) => ({ home: settings.home, json: globals.json });

const filesFlag = {
  files: { value: 'URL', help: 'the files are in this object store; see daemon run' },
} as const satisfies FlagShapes;

const fileArg = (help: string) => [{ name: 'FILE', help, offer: 'file' }] as const;

/** Writes a backup of the registry, also while the daemon is running. */
export const daemonBackup = command({
  description:
    'Daemons may be running. The file contains devices, users, codes and the journal as of one moment, but no uploaded packages and no backups of devices.\nWith --store, or if DEVMGR_STORE names a PostgreSQL database, the registry in it is copied. The format of the file is the same, so either engine can restore it.',
  args: fileArg('file to write; it must not exist'),
  flags: {
    'encrypt-to': {
      value: 'RECIPIENT',
      many: true,
      help: 'encrypt it to this age recipient (age1…)',
      conflicts: ['passphrase-file'],
    },
    'passphrase-file': fileFlag('encrypt it with the passphrase on the first line of a file'),
    ...registryFlags,
  },
  examples: {
    'a backup': 'daemon backup registry-2026-11-20.db',
    encrypted: 'daemon backup registry.age --passphrase-file passphrase',
  },
  run({ args, flags }, context) {
    warnOfOthers(context, flags.passphraseFile, 'passphrase');
    return context.programs.backup({ ...flags, ...homeOf(context), file: resolve(args[0]!) }, programIo(context));
  },
});

/** Replaces the registry by a backup. Asks for confirmation, unless --yes is given. */
export const daemonRestore = command({
  description:
    'Verifies the backup first, with the key of the journal in the home folder. The current registry is kept as a copy in the home folder. Refused while the daemon is running.\nWith --store, or if DEVMGR_STORE names a PostgreSQL database, the registry in it is replaced, in one transaction. Refused while any daemon uses the database.',
  args: fileArg('file that daemon backup wrote'),
  flags: {
    ...yesFlag,
    'identity-file': { ...fileFlag('decrypt it with the age identities in a file'), conflicts: ['passphrase-file'] },
    'passphrase-file': fileFlag('decrypt it with the passphrase on the first line of a file'),
    ...registryFlags,
    ...filesFlag,
    'accept-unverified': {
      help: 'restore a backup without a valid manifest: its passwords, roles, owners and codes may have been changed',
    },
  },
  examples: {
    'return to a backup': 'daemon restore registry-2026-11-20.db --yes',
    'a backup from an earlier devmgr': 'daemon restore old.db --accept-unverified --yes',
  },
  async run({ args, flags }, context) {
    const file = resolve(args[0]!);
    if (!flags.yes) {
      if (!context.canAsk) throw usage('a restore replaces the registry and must be confirmed', 'add --yes');
      // A missing file is refused below: there is nothing to confirm.
      const by = flags.acceptUnverified ? ' by a backup that may not be verified' : '';
      const { home } = context.settings;
      const place = (flags.store ?? context.env[daemonSettings.store.variable]) ? 'the database' : home;
      if (existsSync(file)) await demandYes(context.out, `Replace the registry in ${place}${by}?`);
    }
    warnOfOthers(context, flags.identityFile, 'identity');
    warnOfOthers(context, flags.passphraseFile, 'passphrase');
    return context.programs.restore({ ...flags, ...homeOf(context), file }, programIo(context));
  },
});

/** Checks the integrity of the registry. */
export const daemonCheck = command({
  description: 'Checks the database, the journal and the stored files. Exit code 1 if there are problems.',
  flags: { ...registryFlags, ...filesFlag },
  examples: { 'check it': 'daemon check' },
  run: ({ flags }, context) => context.programs.check({ ...flags, ...homeOf(context) }, programIo(context)),
});

/** Creates a new signing key for tokens, or a new key of the journal. */
export const daemonRotateKey = command({
  description:
    'A running daemon uses the new key at once. Existing tokens are valid until they expire, for 24 hours at most; the earlier key does not sign new ones.\nWith --journal the key of the journal is replaced instead. The journal records the change. Earlier keys stay in journal-keys-earlier and are used only for verification.',
  flags: {
    'revoke-now': { help: 'revoke all existing tokens at once: all users must log in again' },
    journal: { help: 'replace the key of the journal instead', conflicts: ['revoke-now'] },
    ...registryFlags,
  },
  examples: {
    'once a year': 'daemon rotate-key',
    'if the key may have been read': 'daemon rotate-key --revoke-now',
    'if the journal key may have been read': 'daemon rotate-key --journal',
  },
  run: ({ flags }, context) => context.programs.rotateKey({ ...flags, ...homeOf(context) }, programIo(context)),
});

/** Sets a random password for a user. */
export const daemonResetPassword = command({
  description:
    'Use this if no administrator can log in; otherwise, use users passwd. Writes the new password to standard output and ends all logins of the user. Refused while the daemon is running.',
  args: [{ name: 'USER', help: 'user name' }],
  flags: registryFlags,
  examples: { 'if no administrator can log in': 'daemon reset-password admin' },
  run: ({ args, flags }, context) =>
    context.programs.resetPassword({ ...flags, ...homeOf(context), username: args[0]! }, programIo(context)),
});

/** Writes the journal as text, CSV or JSON lines, or verifies it. */
export const daemonAudit = command({
  isPaged: true,
  description:
    'Shows who did what to which device, oldest first. --limit shows the last entries, with --since the first ones. Reads the registry on disk; the daemon may be running.',
  flags: {
    ...eventFlags,
    verify: {
      help: 'verify that no entry was changed or deleted, and that users and devices match the entries',
    },
    head: {
      value: 'ID:MAC',
      optional: true,
      help: 'write the head of the journal, to keep elsewhere; with --verify, check that the journal contains it',
    },
    ...csvFlags,
    ...registryFlags,
  },
  examples: {
    'the history of a key': 'daemon audit --device UK-2026-000001',
    'for a spreadsheet': 'daemon audit --since 2026-01-01 --csv',
    'verify the log': 'daemon audit --verify',
    'the head, to keep elsewhere': 'daemon audit --head',
  },
  run: ({ flags }, context) =>
    context.programs.audit(
      {
        ...homeOf(context),
        store: flags.store,
        secrets: flags.secrets,
        device: flags.device ?? null,
        user: flags.by,
        types: flags.type.length ? flags.type.map(type => type.toUpperCase()) : null,
        since: placeOf('--since', flags.since),
        until: placeOf('--until', flags.until),
        limit: flags.limit ?? null,
        verify: flags.verify,
        ...headOf(flags.head, flags.verify),
        csv: flags.csv,
      },
      pagedIo(context),
    ),
});

/** Printing needs no value, checking does. */
function headOf(head: string | boolean | undefined, verify: boolean): { readonly head?: string | boolean } {
  if (head === undefined || head === false) return {};
  if (verify && head === true) throw usage('--verify --head needs the head to look for: ID:MAC');
  if (!verify && typeof head === 'string') throw usage('--head with a value needs --verify');
  return { head };
}

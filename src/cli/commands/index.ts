/** Every command with its summary. The code of a command is loaded when the command is run or its help is shown. */
import type { CommandTable } from '../framework/define.ts';
import {
  directoryEntries,
  idpEntries,
  peopleEntries,
  receiptEntries,
  ssoEntries,
  webhookEntries,
} from './command-groups.ts';
import { daemonEntries } from './daemon/entries.ts';
import { entry } from './entry.ts';

/** All commands, in the order of the help. */
export const commandTable: CommandTable = {
  sections: [
    {
      title: 'Start here',
      entries: [
        entry(
          'quickstart',
          'start a daemon and enroll the first key',
          async () => (await import('./session/quickstart.ts')).quickstart,
        ),
        entry('login', 'log in and store the token', async () => (await import('./session/login.ts')).login),
        entry('logout', 'delete the stored token', async () => (await import('./session/login.ts')).logout),
        entry('whoami', 'show who is logged in, and where', async () => (await import('./session/login.ts')).whoami),
        entry('open', 'open the console in the browser', async () => (await import('./session/open/open.ts')).open),
      ],
    },
    {
      title: 'Devices',
      entries: [
        entry(
          'enroll',
          'register keys as they are plugged in',
          async () => (await import('./enrollment/enroll/enroll.ts')).enroll,
        ),
        entry(
          'spool flush',
          'register the keys that enroll has spooled',
          async () => (await import('./enrollment/spool/flush.ts')).spoolFlush,
        ),
        entry(
          'spool list',
          'show the keys that enroll has spooled',
          async () => (await import('./enrollment/spool/list.ts')).spoolList,
          'spool ls',
        ),
        entry(
          'register',
          'register one device, or all devices in a file',
          async () => (await import('./devices/register.ts')).register,
        ),
        entry('list', 'list devices', async () => (await import('./devices/list.ts')).list, 'ls'),
        entry(
          'export',
          'write all devices as NDJSON or CSV',
          async () => (await import('./devices/export.ts')).exportDevices,
        ),
        entry(
          'search',
          'find devices, users and application versions',
          async () => (await import('./devices/search/search.ts')).search,
        ),
        entry('show', 'show one device', async () => (await import('./devices/show.ts')).show),
        entry(
          'activate',
          'activate a device and bind it to a user',
          async () => (await import('./devices/activate.ts')).activate,
        ),
        entry('lock', 'lock an active device', async () => (await import('./devices/lock.ts')).lock),
        entry('unlock', 'unlock a locked device', async () => (await import('./devices/lock.ts')).unlock),
        entry(
          'deactivate',
          'retire a device permanently',
          async () => (await import('./devices/deactivate.ts')).deactivate,
        ),
        entry(
          'update',
          'change the firmware version or note',
          async () => (await import('./devices/update.ts')).update,
        ),
        entry('code', 'replace the activation code', async () => (await import('./devices/code.ts')).code),
        entry('label', 'print labels of devices', async () => (await import('./enrollment/labels/label.ts')).label),
        entry('usage', 'record a use of a device', async () => (await import('./devices/usage.ts')).recordUsage),
        entry(
          'backups list',
          'list the backups of a device',
          async () => (await import('./backups/backups.ts')).backupsList,
          'backups ls',
        ),
        entry(
          'backups add',
          'upload a backup of a device',
          async () => (await import('./backups/backups.ts')).backupsAdd,
        ),
        entry(
          'backups download',
          'download a backup and verify its digest',
          async () => (await import('./backups/backups.ts')).backupsDownload,
        ),
        entry(
          'backups restore',
          'verify a backup and record that it is restored',
          async () => (await import('./backups/backups.ts')).backupsRestore,
        ),
        entry('stats', 'count devices by state, type and day', async () => (await import('./devices/stats.ts')).stats),
        entry(
          'report',
          'report on a lot: counts, times, failures',
          async () => (await import('./reports/report.ts')).report,
        ),
      ],
    },
    {
      title: 'Keys and events',
      entries: [
        entry('keys', 'list the attached keys', async () => (await import('./enrollment/enroll/keys.ts')).keys),
        entry(
          'keys issue',
          'let a key sign in at a provider',
          async () => (await import('./enrollment/issuing/issue.ts')).keysIssue,
        ),
        entry(
          'pin letter',
          'open or print a sealed PIN',
          async () => (await import('./enrollment/issuing/letter.ts')).pinLetter,
        ),
        entry(
          'verify',
          'prove that an attached key is genuine',
          async () => (await import('./proofs/verify.ts')).verify,
        ),
        ...receiptEntries,
        entry('history', 'show all events of one device', async () => (await import('./devices/events.ts')).history),
        entry('events', 'show past events', async () => (await import('./devices/events.ts')).events),
        entry('watch', 'follow events as they happen', async () => (await import('./reports/watch/watch.ts')).watch),
      ],
    },
    {
      title: 'Applications',
      entries: [
        entry(
          'apps list',
          'list application versions',
          async () => (await import('./apps/apps.ts')).appsList,
          'apps ls',
        ),
        entry(
          'apps upload',
          'upload an installer package',
          async () => (await import('./apps/upload.ts')).upload,
          'upload',
        ),
        entry(
          'apps latest',
          'show the newest version for a platform',
          async () => (await import('./apps/apps.ts')).appsLatest,
        ),
        entry(
          'apps download',
          'download a package and verify its digest',
          async () => (await import('./apps/download.ts')).appsDownload,
        ),
      ],
    },
    {
      title: 'Administration',
      entries: [
        entry('users list', 'list users', async () => (await import('./users/users.ts')).usersList, 'users ls'),
        entry('users add', 'add a user', async () => (await import('./users/users.ts')).usersAdd),
        entry(
          'users update',
          'change, disable or enable a user',
          async () => (await import('./users/users.ts')).usersUpdate,
        ),
        entry('users passwd', 'set a password', async () => (await import('./users/users.ts')).usersPasswd),
        entry(
          'users remove',
          'disable a user permanently and hide the user',
          async () => (await import('./users/remove.ts')).usersRemove,
          'users rm',
        ),
        entry('users logout', 'end all logins of a user', async () => (await import('./users/users.ts')).usersLogout),
        entry(
          'users keys',
          'list the security keys of a user',
          async () => (await import('./users/keys.ts')).usersKeys,
        ),
        entry(
          'users remove-key',
          'remove a security key of a user',
          async () => (await import('./users/keys.ts')).usersRemoveKey,
        ),
        entry(
          'users require-key',
          'require a security key at each login of a user',
          async () => (await import('./users/keys.ts')).usersRequireKey,
        ),
        entry(
          'cleanup plan',
          'plan which devices to lock or to retire',
          async () => (await import('./many/cleanup/plan.ts')).cleanupPlan,
          'janitor plan',
        ),
        entry(
          'cleanup apply',
          'carry out a plan',
          async () => (await import('./many/cleanup/apply.ts')).cleanupApply,
          'janitor apply',
        ),
        ...peopleEntries,
        entry(
          'tokens add',
          'create a token for a program',
          async () => (await import('./users/tokens/tokens.ts')).tokensAdd,
        ),
        entry(
          'tokens list',
          'list service tokens',
          async () => (await import('./users/tokens/tokens.ts')).tokensList,
          'tokens ls',
        ),
        entry(
          'tokens revoke',
          'revoke a service token',
          async () => (await import('./users/tokens/revoke.ts')).tokensRevoke,
          'tokens rm',
        ),
        ...ssoEntries,
        ...directoryEntries,
        ...idpEntries,
        ...webhookEntries,
        entry(
          'trust import',
          'trust FIDO metadata or certificates of vendors',
          async () => (await import('./proofs/trust.ts')).trustImport,
        ),
        entry(
          'trust list',
          'list what keys are judged by',
          async () => (await import('./proofs/trust.ts')).trustList,
          'trust ls',
        ),
        entry(
          'trust remove',
          'stop trusting a certificate or FIDO metadata',
          async () => (await import('./proofs/trust.ts')).trustRemove,
          'trust rm',
        ),
        entry(
          'policies show',
          'show what a key must prove to be registered',
          async () => (await import('./proofs/policies.ts')).policiesShow,
        ),
        entry(
          'policies set',
          'set what a key must prove to be registered',
          async () => (await import('./proofs/policies.ts')).policiesSet,
        ),
        entry(
          'policies sign-in',
          'show or set which roles sign in with a key',
          async () => (await import('./users/keys.ts')).policiesSignIn,
        ),
        ...daemonEntries,
      ],
    },
    {
      title: 'This program',
      entries: [
        entry('doctor', 'find problems and how to fix them', async () => (await import('./doctor/doctor.ts')).doctor),
        entry(
          'config',
          'show or change the settings of a profile',
          async () => (await import('./session/config.ts')).config,
        ),
        entry(
          'completion',
          'write the completion script for a shell',
          async () => (await import('../framework/completion/completion.ts')).completion,
        ),
        entry('man', 'write the manual page', async () => (await import('./session/man.ts')).man),
        entry(
          'version',
          'show the version and the versions of all parts',
          async () => (await import('./session/man.ts')).versionCommand,
        ),
      ],
    },
  ],
  topics: {
    batches:
      'Several devices, --file or --filter change many devices: in batches, with one result for each device. Exit code 7 means that some failed.\nA CSV file for --file needs a header row; to change devices, with deviceId or serialNumber.\n--out writes the results to a file: JSON lines if its name ends in .json, .jsonl or .ndjson, else CSV. After an interruption, the same command with --resume continues.\n--dry-run shows what would be done. More than 500 devices are locked, unlocked, retired or given a new code only if --max allows it. Each run writes what it has changed to the folder changes of the home, and prints the command that undoes it.',
  },
  groups: {
    spool: 'keys that were enrolled while the registry was away',
    backups: 'backups of devices',
    apps: 'application versions that were uploaded',
    users: 'users of the registry',
    cleanup: 'planned changes of many devices',
    people: 'persons that keys belong to',
    directory: 'the directory that persons are read from',
    idp: 'providers at which keys sign people in',
    sso: 'sign-in with an identity provider',
    receipt: 'hand-overs, loans and returns that keys have signed',
    tokens: 'service tokens: logins of programs',
    webhooks: 'addresses that the registry posts events to',
    trust: 'what keys are judged by',
    policies: 'what keys must prove, and who signs in with one',
    daemon: 'the daemon on this machine',
  },
};

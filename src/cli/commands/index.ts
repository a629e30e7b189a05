/** Every command with its summary. The code of a command is loaded when the command is run or its help is shown. */
import type { AnyCommand, CommandTable, Entry } from '../framework/define.ts';

// Each is a part of its own in the build.
const completion = () => import('../framework/completion/completion.ts');
const apps = () => import('./files/apps.ts');
const backups = () => import('./files/backups.ts');
const daemon = () => import('./daemon/daemon.ts');
const install = () => import('./daemon/install.ts');
const logs = () => import('./daemon/logs.ts');
const move = () => import('./daemon/move.ts');
const restart = () => import('./daemon/restart.ts');
const run = () => import('./daemon/run.ts');
const store = () => import('./daemon/store.ts');
const activate = () => import('./devices/activate.ts');
const code = () => import('./devices/code.ts');
const deactivate = () => import('./devices/deactivate.ts');
const events = () => import('./devices/events.ts');
const exportDevices = () => import('./devices/export.ts');
const devicesList = () => import('./devices/list.ts');
const lock = () => import('./devices/lock.ts');
const register = () => import('./devices/register.ts');
const search = () => import('./devices/search/search.ts');
const show = () => import('./devices/show.ts');
const stats = () => import('./devices/stats.ts');
const update = () => import('./devices/update.ts');
const shipping = () => import('./devices/ship.ts');
const usage = () => import('./devices/usage.ts');
const doctor = () => import('./doctor/doctor.ts');
const enroll = () => import('./enrollment/enroll/enroll.ts');
const enrollKeys = () => import('./enrollment/enroll/keys.ts');
const sshKeys = () => import('./decisions/ssh-keys.ts');
const providers = () => import('./issuing/providers.ts');
const providerAdd = () => import('./issuing/provider-add.ts');
const issue = () => import('./issuing/issue.ts');
const letter = () => import('./issuing/letter.ts');
const label = () => import('./enrollment/labels/label.ts');
const flush = () => import('./enrollment/spool/flush.ts');
const spoolList = () => import('./enrollment/spool/list.ts');
const settingsApply = () => import('./settings/apply.ts');
const settingsExport = () => import('./settings/export.ts');
const apply = () => import('./many/cleanup/apply.ts');
const plan = () => import('./many/cleanup/plan.ts');
const stocktake = () => import('./many/stocktake/stocktake.ts');
const directory = () => import('./directory/directory.ts');
const leavers = () => import('./people/leavers.ts');
const peopleCases = () => import('./people/cases.ts');
const peopleLog = () => import('./people/log.ts');
const peopleErasure = () => import('./people/erasure.ts');
const peopleMatch = () => import('./people/match.ts');
const peopleDrift = () => import('./people/drift.ts');
const peopleUndo = () => import('./people/undo.ts');
const peopleImport = () => import('./people/import.ts');
const people = () => import('./people/people.ts');
const policies = () => import('./proofs/policies.ts');
const receipts = () => import('./receipts/receipts.ts');
const make = () => import('./receipts/make.ts');
const trust = () => import('./proofs/trust.ts');
const proofsVerify = () => import('./proofs/verify.ts');
const report = () => import('./reports/report.ts');
const watch = () => import('./notifications/watch.ts');
const api = () => import('./session/api.ts');
const config = () => import('./session/config.ts');
const login = () => import('./sign-in/login.ts');
const man = () => import('./session/man.ts');
const open = () => import('./session/open/open.ts');
const station = () => import('./session/station.ts');
const quickstart = () => import('./session/quickstart.ts');
const usersKeys = () => import('./accounts/keys.ts');
const remove = () => import('./accounts/remove.ts');
const sso = () => import('./single-sign-on/sso.ts');
const tokens = () => import('./accounts/tokens.ts');
const users = () => import('./accounts/users.ts');
const webhooks = () => import('./webhooks/webhooks.ts');

/** A row of the table: the command that a module exports under a name, with its aliases. */
const entry = <Name extends string>(
  name: string,
  summary: string,
  load: () => Promise<Readonly<Record<NoInfer<Name>, AnyCommand>>>,
  exported: Name,
  ...aliases: string[]
): Entry => ({ name, summary, aliases, load: async () => (await load())[exported] });

/** All commands, in the order of the help. */
export const commandTable: CommandTable = {
  sections: [
    {
      title: 'Start here',
      entries: [
        entry('quickstart', 'start a daemon and enroll the first key', quickstart, 'quickstart'),
        entry('login', 'log in and store the token', login, 'login'),
        entry('logout', 'delete the stored token', login, 'logout'),
        entry('whoami', 'show who is logged in, and where', login, 'whoami'),
        entry('open', 'open the console in the browser', open, 'open'),
      ],
    },
    {
      title: 'Devices',
      entries: [
        entry('enroll', 'register keys as they are plugged in', enroll, 'enroll'),
        entry('enroll spool flush', 'register the keys that enroll has spooled', flush, 'spoolFlush'),
        entry('enroll spool list', 'show the keys that enroll has spooled', spoolList, 'spoolList'),
        entry('register', 'register one device, or all devices in a file', register, 'register'),
        entry('list', 'list devices', devicesList, 'list', 'ls'),
        entry('search', 'find devices, users, persons and app versions', search, 'search'),
        entry('show', 'show one device', show, 'show'),
        entry('activate', 'activate a device and bind it to a user', activate, 'activate'),
        entry('lock', 'lock an active device', lock, 'lock'),
        entry('unlock', 'unlock a locked device', lock, 'unlock'),
        entry('deactivate', 'retire a device permanently', deactivate, 'deactivate'),
        entry('update', 'change the tags, note or firmware version', update, 'update'),
        entry('label', 'print labels of devices', label, 'label'),
        entry('report', 'report on a lot, with counts, times and failures', report, 'report'),
      ],
    },
    {
      title: 'Keys and events',
      entries: [
        entry('keys', 'list the attached keys', enrollKeys, 'keys'),
        entry('keys issue', 'let a key sign in at a provider', issue, 'keysIssue'),
        entry('keys letter', 'open or print a sealed PIN', letter, 'pinLetter'),
        entry('keys verify', 'prove that an attached key is genuine', proofsVerify, 'verify'),
        entry('receipts add', 'have a key sign a handover, loan or return', make, 'make'),
        entry('receipts verify', 'verify a signed receipt offline', receipts, 'verify'),
        entry('receipts print', 'write a receipt as PDF or JSON', receipts, 'print'),
        entry('receipts list', 'list receipts and overdue loans', receipts, 'list', 'receipts ls'),
        entry('events', 'show past events', events, 'events'),
        entry('watch', 'follow events as they happen', watch, 'watch'),
      ],
    },
    {
      title: 'Administration',
      entries: [
        entry('users list', 'list users', users, 'usersList', 'users ls'),
        entry('users add', 'add a user', users, 'usersAdd'),
        entry('users update', 'change, disable or enable a user', users, 'usersUpdate'),
        entry('users passwd', 'set a password', users, 'usersPasswd'),
        entry('users remove', 'disable a user, and hide the user in lists', remove, 'usersRemove', 'users rm'),
        entry('users logout', 'end all logins of a user', users, 'usersLogout'),
        entry('users passkeys', 'list the security keys of a user', usersKeys, 'usersKeys'),
        entry('users remove-passkey', 'remove a security key of a user', usersKeys, 'usersRemoveKey'),
        entry('users allow-registration', 'let a user without keys register one', usersKeys, 'usersAllowRegistration'),
        entry('users require-passkey', 'require a security key at each login of a user', usersKeys, 'usersRequireKey'),
        entry('people list', 'list persons', people, 'peopleList', 'people ls'),
        entry('people show', 'show a person', people, 'peopleShow'),
        entry('people add', 'add a person', people, 'peopleAdd'),
        entry('people import', 'add and update persons from a list', peopleImport, 'peopleImport'),
        entry('people devices', 'list the devices of a person', people, 'peopleKeys'),
        entry('people leave', 'lock all keys of a person who leaves', leavers, 'peopleLeave'),
        entry('people back', 'record that a person is back', leavers, 'peopleBack'),
        entry('people leave held', 'list leavers whose keys await a release', leavers, 'peopleHeld'),
        entry('people cases', 'list cases of persons who have left', peopleCases, 'peopleCases'),
        entry('people case', 'show the open items of a person who has left', peopleCases, 'peopleCase'),
        entry('people case keep', 'keep an item of a case', peopleCases, 'caseKeep'),
        entry('people case close', 'close a case', peopleCases, 'caseClose'),
        entry('people log', 'list changes by sources of persons', peopleLog, 'peopleLog'),
        entry('people report', 'write all data about a person to a file', peopleErasure, 'peopleReport'),
        entry('people erase', 'erase a person who has left', peopleErasure, 'peopleErase'),
        entry('people refused', 'list refused provisioning requests', leavers, 'peopleRefused'),
        entry('people match', 'give devices without a person to persons', peopleMatch, 'peopleMatch'),
        entry('people drift', 'compare persons with their identity provider', peopleDrift, 'peopleDrift'),
        entry('people undo', 'undo changes of a source of persons', peopleUndo, 'peopleUndo'),
        entry('people leave release', 'lock the keys of held leavers', leavers, 'peopleRelease'),
        entry('tokens add', 'create a token for a program', tokens, 'tokensAdd'),
        entry('tokens list', 'list service tokens', tokens, 'tokensList', 'tokens ls'),
        entry('tokens adopt', 'take over the token of another administrator', tokens, 'tokensAdopt'),
        entry('tokens remove', 'revoke a service token', tokens, 'tokensRevoke', 'tokens rm'),
        entry(
          'providers list',
          'list providers of sign-in, people and keys',
          providers,
          'providersList',
          'providers ls',
        ),
        entry('providers show', 'show the settings of a provider', providers, 'providersShow'),
        entry('providers add', 'add a provider at which keys are issued', providerAdd, 'providersAdd'),
        entry('providers add oidc', 'add the provider at which people sign in', sso, 'oidcAdd'),
        entry('providers add ldap', 'read persons from an LDAP directory', directory, 'ldapAdd'),
        entry('providers add scim', 'let a provider send persons over SCIM', providerAdd, 'scimAdd'),
        entry('providers test', 'test providers', providers, 'providersTest'),
        entry('providers reconcile', 'compare credentials with a provider', providers, 'providersReconcile'),
        entry('providers sync', 'read the directory now', directory, 'directorySync'),
        entry('providers update', 'replace the secret of a provider', providers, 'providersUpdate'),
        entry('providers update oidc', 'change single sign-on', sso, 'oidcUpdate'),
        entry('providers update ldap', 'change the directory', directory, 'ldapUpdate'),
        entry('providers remove', 'remove a provider', providers, 'providersRemove', 'providers rm'),
        entry('webhooks list', 'list the webhooks of the registry', webhooks, 'webhooksList', 'webhooks ls'),
        entry('webhooks add', 'post each event to an address', webhooks, 'webhooksAdd'),
        entry('webhooks test', 'post a test message', webhooks, 'webhooksTest'),
        entry('webhooks disable', 'stop posting to a webhook', webhooks, 'webhooksDisable'),
        entry('webhooks enable', 'continue where a webhook has stopped', webhooks, 'webhooksEnable'),
        entry('webhooks remove', 'remove a webhook', webhooks, 'webhooksRemove', 'webhooks rm'),
        entry('webhooks deliveries', 'show the last attempts of a webhook', webhooks, 'webhooksDeliveries'),
        entry('webhooks replay', 'post an event again', webhooks, 'webhooksReplay'),
        entry('policies show', 'show the policies for keys, persons and PINs', policies, 'policiesShow'),
        entry('policies update', 'set the policies for keys, persons and PINs', policies, 'policiesSet'),
        entry('policies sign-in', 'show or set which roles sign in with a key', usersKeys, 'policiesSignIn'),
        entry('daemon run', 'run the daemon in the foreground', run, 'daemonRun'),
        entry('daemon start', 'start the daemon in the background', daemon, 'daemonStart'),
        entry('daemon restart', 'stop the daemon and start it again', restart, 'daemonRestart'),
        entry('daemon stop', 'stop the daemon', daemon, 'daemonStop'),
        entry('daemon status', 'show whether the daemon is running', daemon, 'daemonStatus', 'status'),
        entry('daemon install', 'start the daemon automatically for this user', install, 'daemonInstall'),
        entry('daemon uninstall', 'no longer start the daemon automatically', install, 'daemonUninstall'),
        entry('daemon logs', 'show the log of the daemon', logs, 'daemonLogs'),
        entry('daemon init', 'create a registry with its first administrator', move, 'daemonInit'),
        entry('daemon copy', 'move the registry to PostgreSQL, or back', move, 'daemonCopy'),
        entry('daemon backup', 'copy the registry to a file', store, 'daemonBackup'),
        entry('daemon restore', 'restore the registry from a backup', store, 'daemonRestore'),
        entry('daemon check', 'check the integrity of the registry on disk', store, 'daemonCheck'),
        entry('daemon audit', 'show or verify the journal', store, 'daemonAudit'),
        entry('daemon rotate-key', 'create a new signing key for tokens', store, 'daemonRotateKey'),
        entry('daemon reset-password', 'replace the lost password of a user', store, 'daemonResetPassword'),
      ],
    },
    {
      title: 'This program',
      entries: [
        entry('doctor', 'find problems and how to fix them', doctor, 'doctor'),
        entry('config', 'show or change the settings of a profile', config, 'config'),
        entry('config station', 'store the flags that a station uses each day', station, 'configStation'),
      ],
    },
    {
      title: 'More',
      isRare: true,
      entries: [
        entry('api', 'call any operation of the interface', api, 'api'),
        entry('replace-code', 'replace the activation code', code, 'code'),
        entry('ship', 'record that a device was sent to its person', shipping, 'ship'),
        entry('ssh-keys', 'print the SSH keys of a person, for sshd', sshKeys, 'sshKeys'),
        entry('record-use', 'record a use of a device', usage, 'recordUsage'),
        entry('device-backups list', 'list the backups of a device', backups, 'backupsList'),
        entry('device-backups add', 'upload a backup of a device', backups, 'backupsAdd'),
        entry('device-backups download', 'download a backup and verify its digest', backups, 'backupsDownload'),
        entry('device-backups restore', 'verify a backup and record that it is restored', backups, 'backupsRestore'),
        entry('export', 'write all devices as NDJSON or CSV', exportDevices, 'exportDevices'),
        entry('history', 'show all events of one device', events, 'history'),
        entry('stats', 'count devices by state, type and day', stats, 'stats'),
        entry('cleanup plan', 'plan which devices to lock or to retire', plan, 'cleanupPlan'),
        entry('cleanup apply', 'carry out a plan', apply, 'cleanupApply'),
        entry('stocktake', 'compare scanned numbers with the registry', stocktake, 'stocktake'),
        entry('settings export', 'write the settings of the registry to a file', settingsExport, 'settingsExport'),
        entry('settings apply', 'apply a settings file to the registry', settingsApply, 'settingsApply'),
        entry('trust add', 'trust FIDO metadata or certificates of vendors', trust, 'trustImport'),
        entry('trust list', 'list trusted certificates and FIDO metadata', trust, 'trustList', 'trust ls'),
        entry('trust remove', 'stop trusting a certificate or FIDO metadata', trust, 'trustRemove', 'trust rm'),
        entry('apps list', 'list application versions', apps, 'appsList', 'apps ls'),
        entry('apps add', 'upload an installer package', apps, 'upload'),
        entry('apps latest', 'show the newest version for a platform', apps, 'appsLatest'),
        entry('apps download', 'download a package and verify its digest', apps, 'appsDownload'),
        entry('completion', 'write the completion script for a shell', completion, 'completion'),
        entry('man', 'write the manual page', man, 'man'),
        entry('version', 'show the version and the versions of all parts', man, 'versionCommand'),
      ],
    },
  ],
  topics: {
    batches:
      'With several devices, --file or --filter, a command changes many devices: in batches, with one result for each device. Exit code 7 means that some failed.\nA CSV file for --file needs a header row. To change devices, it needs the column deviceId or serialNumber.\n--out writes the results to a file: JSON lines if its name ends in .json, .jsonl or .ndjson, else CSV. After an interruption, run the same command with --resume to continue.\n--dry-run shows what would be done. To lock, unlock, retire or give a new code to more than 500 devices, raise the limit with --max. Each run records its changes in the folder changes of the home folder, and prints the command that undoes them.',
  },
  groups: {
    'enroll spool': 'keys that were enrolled while the registry was away',
    'device-backups': 'backups of devices',
    apps: 'application versions that were uploaded',
    users: 'users of the registry',
    cleanup: 'planned changes of many devices',
    settings: 'settings of the registry as a file',
    people: 'persons that keys belong to',
    providers: 'identity providers: sign-in, people and keys',
    receipts: 'handovers, loans and returns that keys have signed',
    tokens: 'service tokens: tokens for programs',
    webhooks: 'addresses that the registry posts events to',
    trust: 'certificates and FIDO metadata that proofs are checked with',
    policies: 'what keys must prove, and who must sign in with a key',
    daemon: 'the daemon on this machine',
  },
};

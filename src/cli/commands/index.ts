/** Every command, with a line of its own; what a command needs is loaded when it is run. */
import type { AnyCommand } from '../define.ts';

export interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Left out of the help. */
  readonly hidden?: true;
  load(): Promise<AnyCommand>;
}

export const sections = [
  'Start here',
  'Devices',
  'Keys and events',
  'Applications',
  'Administration',
  'This program',
] as const;

interface SectionEntry extends Entry {
  readonly section: (typeof sections)[number];
}

export const commands: readonly SectionEntry[] = [
  {
    section: 'Start here',
    name: 'quickstart',
    summary: 'from nothing to the first enrolled key',
    load: async () => (await import('./session/quickstart.ts')).quickstart,
  },
  {
    section: 'Start here',
    name: 'login',
    summary: 'log in and remember it',
    load: async () => (await import('./session/login.ts')).login,
  },
  {
    section: 'Start here',
    name: 'logout',
    summary: 'forget the login',
    load: async () => (await import('./session/login.ts')).logout,
  },
  {
    section: 'Start here',
    name: 'whoami',
    summary: 'show who is logged in, and where',
    load: async () => (await import('./session/login.ts')).whoami,
  },
  {
    section: 'Devices',
    name: 'enroll',
    summary: 'register keys as they are plugged in',
    load: async () => (await import('./enroll/enroll.ts')).enroll,
  },
  {
    section: 'Devices',
    name: 'register',
    summary: 'register one device, or a file of them',
    load: async () => (await import('./devices/register.ts')).register,
  },
  {
    section: 'Devices',
    name: 'list',
    summary: 'list devices',
    load: async () => (await import('./devices/list.ts')).list,
  },
  {
    section: 'Devices',
    name: 'show',
    summary: 'show one device',
    load: async () => (await import('./devices/show.ts')).show,
  },
  {
    section: 'Devices',
    name: 'activate',
    summary: 'activate a device and bind it to a user',
    load: async () => (await import('./devices/activate.ts')).activate,
  },
  {
    section: 'Devices',
    name: 'lock',
    summary: 'lock an active device',
    load: async () => (await import('./devices/lock.ts')).lock,
  },
  {
    section: 'Devices',
    name: 'unlock',
    summary: 'unlock a locked device',
    load: async () => (await import('./devices/lock.ts')).unlock,
  },
  {
    section: 'Devices',
    name: 'deactivate',
    summary: 'retire a device for good',
    load: async () => (await import('./devices/deactivate.ts')).deactivate,
  },
  {
    section: 'Devices',
    name: 'update',
    summary: 'change firmware version or note',
    load: async () => (await import('./devices/update.ts')).update,
  },
  {
    section: 'Devices',
    name: 'code',
    summary: 'replace the activation code',
    load: async () => (await import('./devices/code.ts')).code,
  },
  {
    section: 'Devices',
    name: 'stats',
    summary: 'count devices by state, type and day',
    load: async () => (await import('./devices/stats.ts')).stats,
  },
  {
    section: 'Keys and events',
    name: 'keys',
    summary: 'list the keys that are plugged in',
    load: async () => (await import('./enroll/keys.ts')).keys,
  },
  {
    section: 'Keys and events',
    name: 'watch',
    summary: 'follow what happens, as it happens',
    load: async () => (await import('./enroll/watch.ts')).watch,
  },
  {
    section: 'Applications',
    name: 'upload',
    summary: 'upload an installer package',
    load: async () => (await import('./apps/upload.ts')).upload,
  },
  {
    section: 'Applications',
    name: 'apps list',
    summary: 'list application versions',
    load: async () => (await import('./apps/apps.ts')).appsList,
  },
  {
    section: 'Applications',
    name: 'apps latest',
    summary: 'show the newest version of a platform',
    load: async () => (await import('./apps/apps.ts')).appsLatest,
  },
  {
    section: 'Applications',
    name: 'apps download',
    summary: 'download a package and check its digest',
    load: async () => (await import('./apps/download.ts')).appsDownload,
  },
  {
    section: 'Administration',
    name: 'users list',
    summary: 'list users',
    load: async () => (await import('./users/users.ts')).usersList,
  },
  {
    section: 'Administration',
    name: 'users add',
    summary: 'add a user',
    load: async () => (await import('./users/users.ts')).usersAdd,
  },
  {
    section: 'Administration',
    name: 'users update',
    summary: 'change, disable or enable a user',
    load: async () => (await import('./users/users.ts')).usersUpdate,
  },
  {
    section: 'Administration',
    name: 'users passwd',
    summary: 'set a password',
    load: async () => (await import('./users/users.ts')).usersPasswd,
  },
  {
    section: 'Administration',
    name: 'users logout',
    summary: 'end every login of a user',
    load: async () => (await import('./users/users.ts')).usersLogout,
  },
  {
    section: 'Administration',
    name: 'daemon run',
    summary: 'run the daemon in the foreground',
    load: async () => (await import('./daemon/run.ts')).daemonRun,
  },
  {
    section: 'Administration',
    name: 'daemon start',
    summary: 'start the daemon in the background',
    load: async () => (await import('./daemon/daemon.ts')).daemonStart,
  },
  {
    section: 'Administration',
    name: 'daemon stop',
    summary: 'end the daemon',
    load: async () => (await import('./daemon/daemon.ts')).daemonStop,
  },
  {
    section: 'Administration',
    name: 'daemon status',
    summary: 'say whether the daemon runs',
    load: async () => (await import('./daemon/daemon.ts')).daemonStatus,
  },
  {
    section: 'Administration',
    name: 'daemon install',
    summary: 'have the system start the daemon for this user',
    load: async () => (await import('./daemon/install.ts')).daemonInstall,
  },
  {
    section: 'Administration',
    name: 'daemon uninstall',
    summary: 'have the system start the daemon no longer',
    load: async () => (await import('./daemon/install.ts')).daemonUninstall,
  },
  {
    section: 'Administration',
    name: 'daemon logs',
    summary: 'show the log of the daemon',
    load: async () => (await import('./daemon/logs.ts')).daemonLogs,
  },
  {
    section: 'Administration',
    name: 'daemon backup',
    summary: 'copy the registry to a file',
    load: async () => (await import('./daemon/store.ts')).daemonBackup,
  },
  {
    section: 'Administration',
    name: 'daemon restore',
    summary: 'put a copy of the registry back',
    load: async () => (await import('./daemon/store.ts')).daemonRestore,
  },
  {
    section: 'Administration',
    name: 'daemon check',
    summary: 'check the registry on disk',
    load: async () => (await import('./daemon/store.ts')).daemonCheck,
  },
  {
    section: 'Administration',
    name: 'daemon audit',
    summary: 'write the audit log',
    load: async () => (await import('./daemon/store.ts')).daemonAudit,
  },
  {
    section: 'Administration',
    name: 'daemon rotate-key',
    summary: 'make a new signing key for tokens',
    load: async () => (await import('./daemon/store.ts')).daemonRotateKey,
  },
  {
    section: 'Administration',
    name: 'daemon reset-password',
    summary: 'make a new password for a user who has lost it',
    load: async () => (await import('./daemon/store.ts')).daemonResetPassword,
  },
  {
    section: 'This program',
    name: 'doctor',
    summary: 'look for what is wrong, and how to mend it',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  {
    section: 'This program',
    name: 'config',
    summary: 'show or change the settings of a profile',
    load: async () => (await import('./session/config.ts')).config,
  },
  {
    section: 'This program',
    name: 'completion',
    summary: 'write the completion for a shell',
    load: async () => (await import('./session/completion.ts')).completion,
  },
  {
    section: 'This program',
    name: 'man',
    summary: 'write the manual page',
    load: async () => (await import('../man.ts')).man,
  },
  {
    section: 'This program',
    name: 'version',
    summary: 'show the version, the build and what is in it',
    load: async () => (await import('./session/version.ts')).versionCommand,
  },
];

/** Words that begin several commands (`daemon`, `users`), with what they are about. */
export const groups: Readonly<Record<string, string>> = {
  apps: 'application versions that have been uploaded',
  users: 'the users of the registry',
  daemon: 'the daemon on this machine',
};

export const commandOf = (name: string): SectionEntry | null => commands.find(entry => entry.name === name) ?? null;
export const membersOf = (group: string): readonly SectionEntry[] =>
  commands.filter(entry => entry.name.startsWith(`${group} `));

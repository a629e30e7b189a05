import type { Entry } from '../../framework/define.ts';
import { entry } from '../entry.ts';

/** The commands about the daemon on this machine, in the order of the help. */
export const daemonEntries: readonly Entry[] = [
  entry('daemon run', 'run the daemon in the foreground', async () => (await import('./run.ts')).daemonRun),
  entry('daemon start', 'start the daemon in the background', async () => (await import('./daemon.ts')).daemonStart),
  entry(
    'daemon restart',
    'stop the daemon and start it again',
    async () => (await import('./restart.ts')).daemonRestart,
  ),
  entry('daemon stop', 'stop the daemon', async () => (await import('./daemon.ts')).daemonStop),
  entry(
    'daemon status',
    'show whether the daemon is running',
    async () => (await import('./daemon.ts')).daemonStatus,
    'status',
  ),
  entry(
    'daemon install',
    'start the daemon automatically for this user',
    async () => (await import('./install.ts')).daemonInstall,
  ),
  entry(
    'daemon uninstall',
    'stop starting the daemon automatically',
    async () => (await import('./install.ts')).daemonUninstall,
  ),
  entry('daemon logs', 'show the log of the daemon', async () => (await import('./logs.ts')).daemonLogs),
  entry(
    'daemon init',
    'create a registry with its first administrator',
    async () => (await import('./move.ts')).daemonInit,
  ),
  entry('daemon copy', 'move the registry to PostgreSQL, or back', async () => (await import('./move.ts')).daemonCopy),
  entry('daemon backup', 'copy the registry to a file', async () => (await import('./store.ts')).daemonBackup),
  entry('daemon restore', 'restore the registry from a backup', async () => (await import('./store.ts')).daemonRestore),
  entry(
    'daemon check',
    'check the integrity of the registry on disk',
    async () => (await import('./store.ts')).daemonCheck,
  ),
  entry('daemon audit', 'write the audit log', async () => (await import('./store.ts')).daemonAudit),
  entry(
    'daemon rotate-key',
    'create a new signing key for tokens',
    async () => (await import('./store.ts')).daemonRotateKey,
  ),
  entry(
    'daemon reset-password',
    'replace the password that a user has lost',
    async () => (await import('./store.ts')).daemonResetPassword,
  ),
];

/** The programs of the daemon that the command line runs; loaded only when one of them is needed. */
export { audit } from './maintenance/audit.ts';
export { backup } from './maintenance/backup.ts';
export { copy } from './maintenance/copy.ts';
export { init } from './maintenance/init.ts';
export { check } from './maintenance/maintenance.ts';
export { resetPassword } from './maintenance/reset-password.ts';
export { restore } from './maintenance/restore.ts';
export { rotateKey } from './maintenance/rotate-key.ts';
export { run } from './run.ts';

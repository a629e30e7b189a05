/** What the command line has the daemon's side do: loaded only when one of these is asked for. */
export { audit } from './maintenance/audit.ts';
export { backup, check, rotateKey } from './maintenance/maintenance.ts';
export { resetPassword } from './maintenance/reset-password.ts';
export { restore } from './maintenance/restore.ts';
export { run } from './run.ts';

/** What the command line has the daemon's side do: loaded only when one of these is asked for. */
export { audit } from './audit.ts';
export { backup, check, rotateKey } from './maintenance.ts';
export { resetPassword } from './reset-password.ts';
export { restore } from './restore.ts';
export { run } from './run.ts';

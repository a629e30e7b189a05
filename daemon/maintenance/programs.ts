/** The programs of the daemon that the command line runs; loaded only when one of them is needed. */

export { run } from '../start/run.ts';
export { audit } from './audit.ts';
export { backup } from './backup.ts';
export { copy } from './copy.ts';
export { init } from './init.ts';
export { check } from './maintenance.ts';
export { resetPassword } from './reset-password.ts';
export { restore } from './restore.ts';
export { rotateKey } from './rotate-key.ts';

/** What the command line has the daemon's side do: loaded only when one of these is asked for. */
export { audit } from './audit.ts';
export { backup, check, restore, rotateKey } from './maintenance.ts';
export { run } from './run.ts';

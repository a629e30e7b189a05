/**
 * Starts the browser of the user, without a shell. The only argument that devmgr adds is the path of a file, which leads the browser to
 * an address with a code: programs of other users see the arguments of a browser, but not this file.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { signInCodeSeconds } from '../../../../contract/limits.ts';
import { type Env, environment } from '../../../../contract/local.ts';
import { systemWords } from '../../../fault.ts';
import { makeFolder, removeIfPossible, unwritable } from '../../../settings/files.ts';
import { selfCommand } from '../../../settings/processes.ts';
import { removalCommand } from './removal.ts';

/** Why this session can show no browser, as part of a sentence; null if it can. */
export function whyNoBrowser(env: Env, platform: string = process.platform): string | null {
  if (env.SSH_CONNECTION || env.SSH_TTY) return 'this is a session over SSH';
  if (platform === 'win32' || platform === 'darwin' || env.DISPLAY || env.WAYLAND_DISPLAY) return null;
  return 'this session has no display (DISPLAY and WAYLAND_DISPLAY are not set)';
}

/** The commands to try, in order. `$BROWSER` has one or several, each with `%s` for the file or without it. */
export function browserCommands(file: string, env: Env, platform: string = process.platform): string[][] {
  const given = (env.BROWSER ?? '').split(delimiter).map(line => line.split(/\s+/).filter(Boolean));
  const own = given
    .filter(words => words.length > 0)
    .map(words =>
      words.some(word => word.includes('%s')) ? words.map(word => word.replaceAll('%s', file)) : [...words, file],
    );
  if (own.length > 0) return own;
  if (platform === 'darwin') return [['open', file]];
  // `start` is a word of cmd.exe, which evaluates what is in its arguments.
  return platform === 'win32' ? [['rundll32.exe', 'url.dll,FileProtocolHandler', file]] : [['xdg-open', file]];
}

/** Milliseconds after which a program that still runs counts as a browser: some run in the foreground until they are closed. */
const graceMs = 2000;

/** Opens a file in a browser. Resolves with null if one was started, else with the reason, as part of a sentence. */
async function openBrowser(file: string, env: Env): Promise<string | null> {
  let reason: string | null = null;
  for (const [program, ...args] of browserCommands(file, env)) {
    reason = await started(program!, args, env);
    if (reason === null) return null;
  }
  return reason;
}

function started(program: string, args: readonly string[], env: Env): Promise<string | null> {
  const child = spawn(program, args, {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    // A browser does not need the token of this command.
    env: { ...env, [environment.token]: undefined },
  });
  child.unref();
  return new Promise(resolve => {
    const timer = setTimeout(resolve, graceMs, null);
    const settle = (reason: string | null) => {
      clearTimeout(timer);
      resolve(reason);
    };
    child.once('error', error => settle(`${program} could not be started: ${systemWords(error)}`));
    child.once('exit', code => settle(code === 0 ? null : `${program} ended with ${code ?? 'a signal'}`));
  });
}

/**
 * Whether the browser is a snap, which can read neither hidden folders nor those outside the home of the user. The desktop file of
 * a snap is the only one that is named SNAP_PROGRAM.
 */
async function isSnap(env: Env): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  if (env.BROWSER) return env.BROWSER.includes('/snap/');
  const name = await new Promise<string>(resolve => {
    const options = { env: { ...env } as NodeJS.ProcessEnv, timeout: graceMs };
    execFile('xdg-settings', ['get', 'default-web-browser'], options, (_error, stdout) => resolve(stdout.trim()));
  });
  return /^[^_/]+_[^_/]+\.desktop$/.test(name);
}

const fileName = /^devmgr-open-[\w-]{22}\.html$/;

/** Opens the address in a browser. Resolves with the reason if no browser could be started, else with null. */
export async function showInBrowser(target: string, env: Env, home: string): Promise<string | null> {
  const file = await writeRedirect(target, env, home);
  removeSoon(file, env);
  return openBrowser(file, env);
}

/** Writes the file, and removes those that earlier commands have left. Resolves with its path. */
async function writeRedirect(target: string, env: Env, home: string): Promise<string> {
  const folder = (await isSnap(env)) ? homedir() : (runtimeFolder(env) ?? home);
  const file = join(folder, `devmgr-open-${randomBytes(16).toString('base64url')}.html`);
  try {
    makeFolder(folder);
    removeEarlier(folder);
    writeFileSync(file, pageTo(target), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw unwritable(file, error, 'without a file: add --no-browser');
  }
  return file;
}

/** Removes the file when its code has expired, in a process of its own: this one ends before. */
function removeSoon(file: string, env: Env): void {
  const self = selfCommand();
  const args = [...self.args, removalCommand, String(signInCodeSeconds), file];
  const child = spawn(self.file, args, {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    cwd: '/',
    env: { ...env, [environment.token]: undefined },
  });
  // The next command removes the file.
  child.once('error', () => undefined);
  child.unref();
}

/** `location.replace`, so that Back does not lead to this page. */
function pageTo(target: string): string {
  const text = JSON.stringify(target).replaceAll('<', '\\u003c');
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>devmgr</title>
<script>location.replace(${text})</script>
<noscript>This page of devmgr needs JavaScript.</noscript>
`;
}

/** The folder of the login session, in memory; null if it is absent or others can enter it. */
function runtimeFolder({ XDG_RUNTIME_DIR: folder }: Env): string | null {
  if (!folder?.startsWith('/')) return null;
  const found = statSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() && found.uid === userInfo().uid && (found.mode & 0o077) === 0 ? folder : null;
}

function removeEarlier(folder: string): void {
  const before = Date.now() - signInCodeSeconds * 1000;
  for (const name of readdirSync(folder)) {
    if (!fileName.test(basename(name))) continue;
    const file = join(folder, name);
    if ((statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? before) < before) removeIfPossible(file);
  }
}

/** The file that leads a browser to an address with a code: programs of other users see the arguments of a browser, but not this file. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { signInCodeSeconds } from '../../../../contract/limits.ts';
import { type Env, environment } from '../../../../contract/local.ts';
import { makeFolder, removeIfPossible, unwritable } from '../../../settings/files.ts';
import { selfCommand } from '../../../settings/processes.ts';
import { isSnap, openBrowser } from './browser.ts';
import { removalCommand } from './removal.ts';

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

import { lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * Lets Node keep the compiled form of the program in the user's cache folder, which shortens every later start by a tenth (and by
 * more for commands that load large parts). Compiled code is run as it is, so the folder and its parents down from the cache
 * folder must belong to the user who runs the program, and no other user may write to them. Without such a folder, the program
 * starts without the cache. `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` keep their meaning. Source: Node.js
 * documentation, Module compile cache.
 */
export function useCompiledCode(env: NodeJS.ProcessEnv): void {
  if (env.NODE_COMPILE_CACHE !== undefined || env.NODE_DISABLE_COMPILE_CACHE !== undefined) return;
  try {
    const caches = cacheFolder(env);
    const folder = join(caches, 'devmgr', 'compiled');
    if (!isOwn(homedir())) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // A user who can write to a parent could put another folder in its place at any moment.
    if ([caches, join(caches, 'devmgr'), folder].every(isOwn)) enableCompileCache(folder);
  } catch {
    // A home that does not exist or cannot be written to.
  }
}

/** The folder for caches by the convention of the system. Source: XDG Base Directory Specification; Apple and Microsoft's guides. */
function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'win32') return env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  const named = env.XDG_CACHE_HOME;
  return named && isAbsolute(named) ? named : join(homedir(), '.cache');
}

/** Whether this is a folder of the present user that no other user can write to; root trusts no folder of another user either. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder);
  if (process.getuid === undefined) return found.isDirectory();
  return found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o022) === 0;
}

// In the single executable: native modules lie inside it and are loaded from a file for the moment of loading alone. The file
// has a folder of its own that only this user may enter, under a name that nobody can guess, and is gone once it is
// loaded: there is nothing to find, to change, to collide with, or to clean up.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';

const loaded = new Map<string, unknown>();

/** The native module of that name. Throws what the system said where a library of the system is missing. */
export function loadNative(name: string): unknown {
  if (!loaded.has(name)) loaded.set(name, load(name));
  return loaded.get(name);
}

function load(name: string): unknown {
  const bytes = new Uint8Array(getRawAsset(`native/${name}`));
  const refused: string[] = [];
  for (const place of places()) {
    const result = loadFrom(place, name, bytes);
    if ('exports' in result) return result.exports;
    if (!isTheFolder(result.error)) throw result.error;
    refused.push(`${place}: ${result.error.message}`);
  }
  throw new Error(
    `the native module ${name} found no folder to be loaded from. Set TMPDIR to a folder that this user may write to, on a disk that allows programs. Tried: ${refused.join('; ')}`,
  );
}

function loadFrom(place: string, name: string, bytes: Uint8Array): { exports: unknown } | { error: Error } {
  let folder: string | null = null;
  try {
    folder = mkdtempSync(join(place, 'devmgr-'));
    const file = join(folder, `${name}.node`);
    writeFileSync(file, bytes, { mode: 0o700, flag: 'wx' });
    const module = { exports: {} };
    process.dlopen(module, file);
    return module;
  } catch (error) {
    return { error: error as Error };
  } finally {
    // Windows keeps a library that is loaded: there it stays until the next cleaning of the temporary folder.
    if (folder)
      rmSync(folder, { recursive: true, force: true, ...(process.platform === 'win32' && { maxRetries: 0 }) });
  }
}

function places(): string[] {
  const home = process.env.HOME ? [homedir()] : [];
  const others = process.platform === 'linux' ? ['/dev/shm', '/var/tmp', '/run'] : [];
  return [...new Set([process.env.XDG_RUNTIME_DIR, tmpdir(), ...home, ...others])].filter(place => place !== undefined);
}

/** Whether the folder was at fault (absent, read-only, full, mounted noexec) and another one may serve. */
function isTheFolder(error: Error): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return (
    /^(ENOENT|ENOTDIR|EACCES|EPERM|EROFS|ENOSPC|EDQUOT)$/.test(code) || /failed to map segment/.test(error.message)
  );
}

/** A file that was put into the executable; `encoding` is not asked for, the bytes are what counts. */
export function readCarried(name: string): Buffer {
  return Buffer.from(getRawAsset(name));
}

export function readCarriedText(name: string): string {
  return getAsset(name, 'utf8');
}

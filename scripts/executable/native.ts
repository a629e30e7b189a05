// Loads the native modules that the single executable contains.
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { getAssetKeys, getRawAsset } from 'node:sea';
import { loadKept, loadOnce } from './unpack.ts';

const loaded = new Map<string, unknown>();

/** The native module of that name. Throws what the system said where a library of the system is missing. */
export function loadNative(name: string): unknown {
  if (!loaded.has(name)) {
    if (!getAssetKeys().includes(`native/${name}`))
      throw new Error(`this executable was made without ${name}, which npm does not have for its platform`);
    const carried = { name, bytes: new Uint8Array(getRawAsset(`native/${name}`)) };
    loaded.set(
      name,
      process.platform === 'win32'
        ? loadKept(carried, windowsFolder(), open, notice)
        : loadOnce(carried, places(), open),
    );
  }
  return loaded.get(name);
}

function open(file: string): unknown {
  const module = { exports: {} };
  process.dlopen(module, file);
  return module.exports;
}

function notice(text: string): void {
  process.stderr.write(`devmgr: ${text}\n`);
}

const windowsFolder = () => join(process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'devmgr');

function places(): string[] {
  const home = process.env.HOME ? [homedir()] : [];
  const others = process.platform === 'linux' ? ['/dev/shm', '/var/tmp', '/run'] : [];
  return [...new Set([process.env.XDG_RUNTIME_DIR, tmpdir(), ...home, ...others])].filter(place => place !== undefined);
}

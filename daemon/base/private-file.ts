/** Files with secrets that an operator names: only their owner may read them. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Env } from '../../src/contract/local.ts';
import { thisPlatform } from './platform.ts';

/**
 * The text of a file, or null if it does not exist. `contents` names its content, for a message. Throws what `refused` returns if the file
 * cannot be read or others can read it.
 */
export function privateText(
  file: string,
  contents: string,
  env: Env,
  refused: (message: string, hint: string) => Error,
): string | null {
  try {
    if (thisPlatform.fileModes && (statSync(file).mode & openTo(file, env)) !== 0)
      throw refused(`${file} contains ${contents}, and others can read it`, `chmod 600 ${file}`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    if (code === 'ENOENT') return null;
    throw refused(`${file} cannot be read (${code})`, 'it must belong to this user');
  }
}

/**
 * The bits of the mode that a private file lacks. systemd may give a service the right to read a credential by an access control list,
 * whose mask is shown as the bits of the group.
 */
function openTo(file: string, { CREDENTIALS_DIRECTORY }: Env): number {
  return CREDENTIALS_DIRECTORY && dirname(resolve(file)) === resolve(CREDENTIALS_DIRECTORY) ? 0o037 : 0o077;
}

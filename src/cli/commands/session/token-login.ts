import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { systemWords, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { firstLines } from '../../terminal/lines.ts';

/** Bytes of a file that are read: many times a token. */
const MAX_READ = 64 * 1024;
/** Permissions of others than the owner. */
const OTHERS = 0o077;

/** The token in the first line of a file; `-` is standard input. A fault if others can read the file, or it has no token. */
export async function readToken({ io }: Context, file: string): Promise<string> {
  const [line = ''] = file === '-' ? await firstLines(io, 1, 'a token') : [firstLineOf(file)];
  const token = line.trim();
  // Its content is never shown: it may be a secret all the same.
  if (!/^[\w.~+/=-]+$/.test(token))
    throw usage(
      `${file === '-' ? 'standard input' : file} does not contain a token`,
      'create one: devmgr tokens add NAME --role ROLE',
    );
  return token;
}

function firstLineOf(file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    checkPrivate(descriptor, file);
    const bytes = Buffer.alloc(MAX_READ);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes)).split(/\r?\n/, 1)[0]!;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw usage(`the token in ${file} cannot be read: ${systemWords(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** A token is worth as much as a password. Pipes and devices have no permissions of this kind; Windows has others. */
function checkPrivate(descriptor: number, file: string): void {
  const stat = fstatSync(descriptor);
  if (process.platform !== 'win32' && stat.isFile() && stat.mode & OTHERS)
    throw usage(`other users can read the token in ${file}`, `chmod 600 ${file}, and consider a new token`);
}

import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { secretFrom } from '../../framework/secret-file.ts';

const hint = 'create one: devmgr tokens add NAME --role ROLE';

/** The token in the first line of a file; `-` is standard input. A fault if others can read, change or own the file, or it has no token. */
export async function readToken(context: Context, file: string): Promise<string> {
  const token = await secretFrom(context, file, { what: 'token', mustBePrivate: true, hint });
  // Its content is never shown: it may be a secret all the same.
  if (!/^[\w.~+/=-]+$/.test(token))
    throw usage(`${file === '-' ? 'standard input' : file} does not contain a token`, hint);
  return token;
}

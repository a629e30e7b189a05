/** Files with secrets that the user names: others should neither read, change nor own them. */
import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { systemWords, usage } from '../fault.ts';
import { firstLines } from '../terminal/lines.ts';
import type { Context } from './context.ts';

/** What else a file is asked for. */
interface SecretRules {
  /** The secret in one word, for messages. */
  readonly what?: string;
  /** A file that is open to others is refused; otherwise there is a warning. */
  readonly mustBePrivate?: boolean;
}

/** The first line of a file, or of standard input for `-`; undefined without a file. A fault does not show it. */
export async function secretFrom<F extends string | undefined>(
  context: Context,
  file: F,
  rules?: SecretRules,
): Promise<F extends string ? string : undefined>;
export async function secretFrom(context: Context, file: string | undefined, rules: SecretRules = {}) {
  if (file === undefined) return undefined;
  const { what = 'secret' } = rules;
  const [line = ''] =
    file === '-' ? await firstLines(context.io, 1, `a ${what}`) : secretTextIn(context, file, rules).split(/\r?\n/, 1);
  const secret = line.trim();
  if (secret === '') throw usage(`${file === '-' ? 'standard input' : file} does not contain a ${what}`);
  return secret;
}

/** The text of such a file. A usage fault if it cannot be read. */
export function secretTextIn(context: Pick<Context, 'env' | 'out'>, file: string, rules: SecretRules): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    judge(context, file, fstatSync(descriptor), rules);
    return readFileSync(descriptor, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw usage(`the ${rules.what ?? 'secret'} in ${file} cannot be read: ${systemWords(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The warning about a file that the daemon's program reads, if there is one. */
export function warnOfOthers(context: Pick<Context, 'env' | 'out'>, file: string | undefined, what: string): void {
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (stat) judge(context, file!, stat, { what });
}

/** Pipes and devices have no permissions of this kind; Windows has others. */
function judge(
  { env, out }: Pick<Context, 'env' | 'out'>,
  file: string,
  stat: Stats,
  { what = 'secret', mustBePrivate = false }: SecretRules,
): void {
  const user = process.getuid?.();
  if (user === undefined || !stat.isFile()) return;
  const { mode, uid } = stat;
  const [problem, advice] =
    mode & bitsOfOthers(file, env)
      ? [`other users can ${mode & 0o044 ? 'read' : 'change'}`, `chmod 600 ${file}, and consider a new ${what}`]
      : uid !== user && uid !== 0
        ? [`another user (uid ${uid}) owns`, 'copy it to a file of your own']
        : [];
  if (problem === undefined) return;
  if (mustBePrivate) throw usage(`${problem} the ${what} in ${file}`, advice);
  // Programs that read the error of a command as JSON find nothing else beside it.
  if (!out.json) out.warn(`${problem} the ${what} in ${file}: ${advice}`);
}

/** systemd gives a service the right to read a credential by an access control list, whose mask is shown as the bits of the group. */
const bitsOfOthers = (file: string, { CREDENTIALS_DIRECTORY }: Context['env']): number =>
  CREDENTIALS_DIRECTORY && dirname(resolve(file)) === resolve(CREDENTIALS_DIRECTORY) ? 0o037 : 0o077;

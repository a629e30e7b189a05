/** Files with secrets that the user names: others should neither read, change nor own them. */
import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { lineEnd, withoutMark } from '../../contract/text-file.ts';
import { systemWords, usage } from '../fault.ts';
import { firstLines } from '../terminal/lines.ts';
import type { Context } from './context.ts';

/** How a file is checked, and its name in messages. */
interface SecretRules {
  /** The secret in one word, for messages. */
  readonly what?: string;
  /** A file that is open to others is refused; otherwise there is a warning. */
  readonly mustBePrivate?: boolean;
  /** Advice if the file is empty. */
  readonly hint?: string;
}

/** Bytes of a file that are read: many times a secret. A pipe or a device may have no end. */
const mostBytes = 64 * 1024;

/** The first line of a file, or of standard input for `-`; undefined without a file. A fault does not show it. */
export async function secretFrom<F extends string | undefined>(
  context: Context,
  file: F,
  rules?: SecretRules,
): Promise<F extends string ? string : undefined>;
export async function secretFrom(context: Context, file: string | undefined, rules: SecretRules = {}) {
  if (file === undefined) return undefined;
  const { what = 'secret', hint = null } = rules;
  const [line = ''] =
    file === '-' ? await firstLines(context.io, 1, `a ${what}`) : secretLinesIn(context, file, rules, 1);
  const secret = line.trim();
  if (secret === '') throw usage(`${file === '-' ? 'standard input' : file} does not contain a ${what}`, hint);
  return secret;
}

/** The first `count` lines of such a file. A usage fault if it cannot be read. */
export function secretLinesIn(
  context: Pick<Context, 'env' | 'out'>,
  file: string,
  rules: SecretRules,
  count = Number.POSITIVE_INFINITY,
): string[] {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    checkOwner(context, file, fstatSync(descriptor), rules);
    return withoutMark(startOf(descriptor, count)).split(lineEnd).slice(0, count);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw usage(`the ${rules.what ?? 'secret'} in ${file} cannot be read: ${systemWords(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Reads until there are this many lines: the writer of a pipe may keep it open. */
function startOf(descriptor: number, lines: number): string {
  const bytes = Buffer.alloc(mostBytes);
  let size = 0;
  let ends = 0;
  while (size < mostBytes && ends < lines) {
    const read = readSync(descriptor, bytes, size, mostBytes - size, null);
    if (read === 0) break;
    ends += bytes.subarray(size, size + read).filter(byte => byte === 10).length;
    size += read;
  }
  return bytes.toString('utf8', 0, size);
}

/** Warns about a file that `daemon backup` or `daemon restore` reads. They report a file that cannot be read. */
export function warnOfOthers(context: Pick<Context, 'env' | 'out'>, file: string | undefined, what: string): void {
  if (file === undefined) return;
  let stat: Stats;
  try {
    stat = statSync(file);
  } catch {
    return;
  }
  checkOwner(context, file, stat, { what });
}

/** Files that a command has warned about. */
const reported = new WeakMap<Context['out'], Set<string>>();

/** Pipes and devices have no permissions of this kind; Windows has others. */
function checkOwner(
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
  const files = reported.get(out) ?? new Set();
  // Programs that read the error of a command as JSON find nothing else beside it.
  if (out.json || files.has(file)) return;
  reported.set(out, files.add(file));
  out.warn(`${problem} the ${what} in ${file}: ${advice}`);
}

/** systemd gives a service the right to read a credential by an access control list, whose mask is shown as the bits of the group. */
const bitsOfOthers = (file: string, { CREDENTIALS_DIRECTORY }: Context['env']): number =>
  CREDENTIALS_DIRECTORY && dirname(resolve(file)) === resolve(CREDENTIALS_DIRECTORY) ? 0o026 : 0o066;

/** What a command still needs to know: asked for where a person is there, else the missing flag is named. */
import { readFileSync } from 'node:fs';
import type { Context } from './context.ts';
import { systemWords, usage } from './fault.ts';
import { firstLines } from './terminal/lines.ts';
import { ask } from './terminal/prompt.ts';

/** The value of a flag, asked for where it is missing. `hint` is what to type where nobody can be asked. */
export async function need(
  context: Context,
  given: string | undefined,
  flag: string,
  question: string,
  hint = `name it: ${flag} …`,
): Promise<string> {
  if (given !== undefined) return given;
  if (!context.canAsk) throw usage(`${flag} is missing`, hint);
  for (;;) {
    const answer = (await ask(context.io, { text: `${question}: ` })).trim();
    if (answer !== '') return answer;
  }
}

export interface PasswordFlags {
  readonly passwordStdin: boolean;
  readonly passwordFile: string | undefined;
}

/** A password, from where the flags say or from a prompt. */
export async function readPassword(context: Context, flags: PasswordFlags, question: string): Promise<string> {
  const [password] = await readPasswords(context, flags, [question]);
  return password!;
}

/** Several passwords; of standard input and of the file each takes a line of its own, in this order. */
export async function readPasswords(
  context: Context,
  flags: PasswordFlags,
  questions: readonly string[],
): Promise<readonly string[]> {
  if (flags.passwordStdin && flags.passwordFile !== undefined)
    throw usage('--password-stdin and --password-file exclude each other');
  if (flags.passwordFile !== undefined && flags.passwordFile !== '-')
    return checked(linesOf(flags.passwordFile, questions.length), questions, flags.passwordFile);
  const wantsStdin = flags.passwordStdin || flags.passwordFile === '-';
  if (wantsStdin && !context.io.stdinIsTerminal)
    return checked(await firstLines(context.io, questions.length, 'a password'), questions, 'standard input');
  if (!context.canAsk)
    throw usage(
      'a password is needed, and nobody can be asked for it',
      'give it with --password-stdin or --password-file FILE',
    );
  const answers: string[] = [];
  for (const question of questions) answers.push(await ask(context.io, { text: `${question}: `, hidden: true }));
  return checked(answers, questions, 'what was entered');
}

function linesOf(file: string, count: number): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/).slice(0, count);
  } catch (error) {
    throw usage(`the password in ${file} cannot be read: ${systemWords(error)}`);
  }
}

function checked(lines: readonly string[], questions: readonly string[], from: string): readonly string[] {
  const missing = questions.findIndex((_, index) => !lines[index]);
  if (missing >= 0)
    throw usage(`${from} holds no ${missing === 0 ? 'password' : `line ${missing + 1} (${questions[missing]})`}`);
  return lines.slice(0, questions.length);
}

/** A password that is about to be set: asked for twice. */
export async function readNewPassword(context: Context, flags: PasswordFlags, question: string): Promise<string> {
  const [password] = await readNewPasswords(context, flags, [question]);
  return password!;
}

/** The same behind others; the last one is the new one. */
export async function readNewPasswords(
  context: Context,
  flags: PasswordFlags,
  questions: readonly string[],
): Promise<readonly string[]> {
  const passwords = await readPasswords(context, flags, questions);
  const question = questions.at(-1)!;
  const typed = !flags.passwordStdin && flags.passwordFile === undefined;
  if (typed && (await ask(context.io, { text: `${question}, once more: `, hidden: true })) !== passwords.at(-1))
    throw usage('the two passwords differ');
  return passwords;
}

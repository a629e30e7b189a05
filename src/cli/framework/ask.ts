/** Missing values of a command: asked at a terminal; without one, the error names the missing flag. */
import type { EnteredField } from '../../contract/readers.ts';
import { usage } from '../fault.ts';
import { firstLines } from '../terminal/lines.ts';
import { askPassword, askText, type Check, pickOne } from '../terminal/prompt.ts';
import type { Context } from './context.ts';
import type { FlagValues, passwordFlags } from './flags.ts';
import { secretLinesIn } from './secret-file.ts';

interface MissingValue<V extends string> {
  readonly flag: string;
  /** Without a colon at its end. */
  readonly question: string;
  /** Command to type if no one can be asked. */
  readonly hint?: string;
  /** The field of the interface that the answer goes into: its rule is checked at the question. */
  readonly field?: EnteredField;
  /** Further check at the question. */
  readonly check?: Check<string>;
  /** The only values there are. */
  readonly choices?: readonly V[];
}

/** The value of a flag, asked for if it is missing. */
export async function need<V extends string>(
  context: Context,
  given: V | undefined,
  { flag, question, hint, field, check, choices }: MissingValue<V>,
): Promise<V> {
  if (given !== undefined) return given;
  const values = choices === undefined ? `give it: ${flag} …` : `use one of ${choices.join(', ')}`;
  if (!context.canAsk) throw usage(`${flag} is missing`, hint ?? values);
  if (choices === undefined) return (await askText(context.out, question, check ?? ruleOf(field))) as V;
  return pickOne(
    context.out,
    question,
    choices.map(name => ({ name, value: name })),
  );
}

/** A usage error that names an argument if it is missing and no one can be asked for it. */
export function checkArgument(context: Context, given: string | undefined, argument: string, command: string): void {
  if (given === undefined && !context.canAsk)
    throw usage(`missing required argument '${argument}'`, `see: devmgr ${command} --help`);
}

/** The rule of the interface. Its schemas are loaded when something has been typed. */
export const ruleOf =
  (field: EnteredField | undefined): Check<string> =>
  async typed => {
    if (field === undefined) return null;
    const { faultOf } = await import('../../contract/readers.ts');
    const fault = faultOf(field, typed);
    return fault === null ? null : `This ${fault}`;
  };

type PasswordFlags = FlagValues<typeof passwordFlags>;

/** A password, from the source that the flags name or else from a prompt. */
export async function readPassword(context: Context, flags: PasswordFlags, question: string): Promise<string> {
  const [password] = await readPasswords(context, flags, [question]);
  return password!;
}

/** Several passwords. From standard input or a file, each is a line, in this order. `rule` checks the last one as it is typed. */
async function readPasswords(
  context: Context,
  flags: PasswordFlags,
  questions: readonly string[],
  rule?: Check<string>,
): Promise<readonly string[]> {
  if (flags.passwordStdin && flags.passwordFile !== undefined)
    throw usage('--password-stdin and --password-file cannot be combined');
  if (flags.passwordFile !== undefined && flags.passwordFile !== '-')
    return complete(
      secretLinesIn(context, flags.passwordFile, { what: 'password' }, questions.length),
      questions,
      flags.passwordFile,
    );
  const fromStdin = flags.passwordStdin || flags.passwordFile === '-';
  if (fromStdin && !context.io.stdinIsTerminal)
    return complete(await firstLines(context.io, questions.length, 'a password'), questions, 'standard input');
  if (!context.canAsk)
    throw usage(
      'a password is needed, but this is not a terminal or --no-input is set',
      'give it with --password-stdin or --password-file FILE',
    );
  const answers: string[] = [];
  for (const question of questions)
    answers.push(await askPassword(context.out, question, question === questions.at(-1) ? rule : undefined));
  return answers;
}

function complete(lines: readonly string[], questions: readonly string[], source: string): readonly string[] {
  const missing = questions.findIndex((_, index) => !lines[index]);
  if (missing >= 0)
    throw usage(`${source} has no ${missing === 0 ? 'password' : `line ${missing + 1} (${questions[missing]})`}`);
  return lines.slice(0, questions.length);
}

/** A password that is about to be set. At a terminal it is typed twice. */
export async function readNewPassword(context: Context, flags: PasswordFlags, question: string): Promise<string> {
  const [password] = await readNewPasswords(context, flags, [question]);
  return password!;
}

/** Several passwords, of which the last one is about to be set. */
export async function readNewPasswords(
  context: Context,
  flags: PasswordFlags,
  questions: readonly string[],
): Promise<readonly string[]> {
  const passwords = await readPasswords(context, flags, questions, ruleOf('password'));
  const typed = !flags.passwordStdin && flags.passwordFile === undefined;
  if (typed && (await askPassword(context.out, `${questions.at(-1)}, again`)) !== passwords.at(-1))
    throw usage('the passwords do not match');
  return passwords;
}

/** Flag for a note in the journal. */
export const noteFlag = { note: { value: 'TEXT', empty: true, help: 'note, for the journal' } } as const;

/** The reason for the journal, asked for if it is missing. */
export const reasonOf = (context: Context, given: string | undefined): Promise<string> =>
  need(context, given, { flag: '--reason', question: 'Reason', field: 'reason' });

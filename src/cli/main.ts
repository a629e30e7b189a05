/** The program: parses the command line, runs the command, and turns the result or the error into an exit code. */

import type { Env } from '../contract/local.ts';
import type { Programs } from '../contract/programs.ts';
import { ServerRefusal } from './client/failures.ts';
import { commandTable } from './commands/index.ts';
import { codeOfFault, endings, exitCodes, exitOfCode, exitOfFault } from './exit-codes.ts';
import { errorWords, Fault, failure, isFault, isOfDisk, systemWords } from './fault.ts';
import type { CommandNode } from './framework/command-node.ts';
import { createContext, notify } from './framework/context.ts';
import type { AnyCommand } from './framework/define.ts';
import type { GlobalValues } from './framework/flags.ts';
import { asksForJson, type FormatFlags, formatOf } from './framework/format.ts';
import { hintOf, messageOf, type RefusedCommand, serverFlags } from './framework/hints.ts';
import { renamedWords, withoutOldNames } from './framework/old-names.ts';
import { about, aboutText, checkNode } from './framework/version.ts';
import { resolveSettings } from './settings/settings.ts';
import type { Io } from './terminal/io.ts';
import type { Selection } from './terminal/jq.ts';
import { isStructured, Output } from './terminal/output.ts';
import type { PagedIo } from './terminal/pager.ts';
import { choosePaint } from './terminal/style.ts';
import { safeJson, safeProse } from './terminal/text.ts';

interface Surroundings {
  readonly io: Io;
  readonly env: Env;
  readonly programs: Programs;
}

/** Runs the program and resolves to its exit code. Never rejects. */
export async function run(argv: readonly string[], io: Io, env: Env, programs: Programs): Promise<number> {
  let refused: RefusedCommand | null = null;
  try {
    if (asksVersion(argv)) return await writeVersion(argv, io);
    return await dispatch(argv, { io, env, programs }, understood => {
      refused = understood;
    });
  } catch (error) {
    return report(error, refused, argv, io, env);
  }
}

/** Whether flags alone ask for the version: found without loading the parser. */
function asksVersion(argv: readonly string[]): boolean {
  const end = argv.findIndex(word => !word.startsWith('-') || word === '--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  return flags.includes('--version') || flags.includes('-V');
}

/** Needs no home and no settings, so that it works when nothing else does. */
async function writeVersion(argv: readonly string[], io: Io): Promise<number> {
  const facts = about();
  const isShort = argv.includes('--quiet') || argv.includes('-q');
  await io.write(asksForJson(argv) ? `${safeJson(facts)}\n` : isShort ? `${facts.version}\n` : aboutText(facts));
  return exitCodes.done;
}

async function dispatch(
  argv: readonly string[],
  surroundings: Surroundings,
  understood: (refused: RefusedCommand) => void,
): Promise<number> {
  const { io, env } = surroundings;
  const { createProgram } = await import('./framework/program.ts');
  const { words, renamed } = withoutOldNames(argv);
  const renaming = renamed === null ? null : renamedWords(renamed);
  const help = { wanted: '', unasked: '' };
  let exit: number | null = null;
  const programWith = (only?: string): CommandNode =>
    createProgram({
      table: commandTable,
      only,
      endings,
      columns: Math.min(io.columns, 100),
      paint: choosePaint(env, io.stdoutIsTerminal, argv.includes('--no-color')),
      write: text => {
        help.wanted += text;
      },
      say: text => {
        help.unasked += text;
      },
      act: async node => {
        exit = await execute(node, { ...surroundings, renaming, program: () => programWith() }, understood);
      },
    });
  const program = programWith(words[0]);
  try {
    await program.run(words);
  } catch (error) {
    if (help.wanted + help.unasked === '') throw error;
  }
  if (program.isGiven('version')) return writeVersion(argv, io);
  if (exit !== null) return exit;
  if (renaming !== null) io.say(`${renaming}\n`);
  if (help.wanted !== '') await io.write(help.wanted);
  io.say(help.unasked);
  return help.wanted === '' ? exitCodes.usage : exitCodes.done;
}

interface Understood extends Surroundings {
  /** The notice about an old name that was typed. */
  readonly renaming: string | null;
  readonly program: () => CommandNode;
}

async function execute(
  node: CommandNode,
  { io, env, programs, renaming, program }: Understood,
  understood: (refused: RefusedCommand) => void,
): Promise<number> {
  const { args, shape: command, values } = node;
  if (command === null) throw new Error(`${node.path} has no definition`);
  if (!command.runsOnOldNode) checkNode(process.versions.node);
  const format = formatOf(values, isList(command));
  const flags = { ...values, json: isStructured(format), csv: format === 'csv' };
  const globals = flags as unknown as GlobalValues;
  const settings = resolveSettings(
    { ...globals, serverFrom: node.isGiven('server') ? 'flag' : 'environment', homeTyped: node.isGiven('home') },
    env,
    command.makesProfile?.(args) ?? false,
  );
  const { quiet, verbose, color, fields } = globals;
  const selection = await selectionOf(values);
  const paged = await pagerFor(command, values, io, env);
  const out = new Output(paged ?? io, env, { format, selection, fields, quiet, verbose, noColor: !color });
  const given = (name: 'profile' | 'server' | 'home') => (node.isGiven(name) ? globals[name] : undefined);
  const server = serverFlags({ profile: given('profile'), server: given('server'), home: given('home') });
  const context = createContext({ io: out.io, out, env, settings, globals, programs, serverFlags: server });
  understood({ command, args, context });
  if (renaming !== null) notify(context, renaming);
  try {
    const flagsOf = flags as unknown as Record<string, never>;
    return (await command.run({ args, flags: flagsOf, program }, context)) ?? exitCodes.done;
  } finally {
    out.end();
    await paged?.close();
  }
}

const isList = ({ flags }: AnyCommand): boolean => flags.fields !== undefined;

/** Null if the result is written as it is: to no terminal, from a command without end, or because no pager is wanted. */
async function pagerFor(
  command: AnyCommand,
  { pager, watch, follow }: { readonly pager?: boolean; readonly watch?: boolean; readonly follow?: boolean },
  io: Io,
  env: Env,
): Promise<PagedIo | null> {
  if (!(command.isPaged || isList(command)) || !pager || watch || follow || !io.stdoutIsTerminal || env.TERM === 'dumb')
    return null;
  const { pagedIo, pagerOf } = await import('./terminal/pager.ts');
  return pagerOf(env) === '' ? null : pagedIo(io, env);
}

async function selectionOf({ jq }: FormatFlags): Promise<Selection | null> {
  return jq === undefined ? null : new (await import('./terminal/jq.ts')).Selection(jq);
}

interface Failure {
  readonly exit: number;
  readonly code: number | string;
  readonly message: string;
  /** The message for a person at a terminal. */
  readonly words: string;
  readonly hint: string | null;
}

function explain(error: unknown, refused: RefusedCommand | null): Failure {
  if (error instanceof ServerRefusal) {
    const { code, message } = error;
    const first = hintOf(error, refused);
    const hint = error.hint !== null && first !== null ? `${error.hint}; before that, ${first}` : (error.hint ?? first);
    return { exit: exitOfCode(code), code, message, words: messageOf(error, refused), hint };
  }
  if (isOfDisk(error)) {
    const words = `cannot write${error.path === undefined ? '' : ` ${error.path}`}: ${systemWords(error)}`;
    return explain(failure(words, 'make room on the disk, or use another one'), refused);
  }
  const isFault = error instanceof Fault;
  const text = errorWords(error);
  const message = isFault ? text : `unexpected error: ${text}`;
  const hint = isFault ? error.hint : 'run it again with --verbose and report its output';
  const kind = isFault ? error.kind : 'failure';
  return { exit: exitOfFault[kind], code: codeOfFault[kind], message, words: message, hint };
}

/** Cells before the text of an error, and before that of its hint. */
const beforeError = 'devmgr: '.length;
const beforeHint = 4;

/** An error and its hint, broken between words if the terminal is narrower. */
async function onScreen(words: string, hint: string | null, io: Io): Promise<readonly [string, string | null]> {
  const columns = io.stderrIsTerminal ? io.columns : Number.POSITIVE_INFINITY;
  const isShort = words.length + beforeError <= columns && (hint?.length ?? 0) + beforeHint <= columns;
  if (isShort) return [words, hint];
  const { hintLines, wrapped } = await import('./terminal/card.ts');
  const lines = words.split('\n').flatMap(line => wrapped(line, columns - beforeError));
  const below = `\n${' '.repeat(beforeHint)}`;
  return [lines.join('\n'), hint === null ? null : hintLines(hint, columns - beforeHint).join(below)];
}

async function report(
  error: unknown,
  refused: RefusedCommand | null,
  argv: readonly string[],
  io: Io,
  env: Env,
): Promise<number> {
  const { exit, code, message, words, hint } = explain(error, refused);
  if (isFault(error, 'closed')) return exit;
  // The flags may be what was wrong: they are looked for as text.
  const end = argv.indexOf('--');
  const typed = end < 0 ? argv : argv.slice(0, end);
  const flags = new Set(typed);
  const paint = choosePaint(env, io.stderrIsTerminal, flags.has('--no-color'));
  if (asksForJson(typed)) io.say(`${safeJson({ error: { code, message, hint } })}\n`);
  else {
    const [what, then] = await onScreen(safeProse(words), hint === null ? null : safeProse(hint), io);
    const next = then === null ? '' : `  ${paint('cyan', '→')} ${then}\n`;
    io.say(`${paint('red', 'devmgr:')} ${what}\n${next}`);
  }
  const isExplained = error instanceof Fault || error instanceof ServerRefusal || isOfDisk(error);
  const isUnexpected = error instanceof Error && !isExplained;
  if (isUnexpected && (flags.has('--verbose') || flags.has('-v'))) io.say(`${safeProse(error.stack ?? '')}\n`);
  return exit;
}

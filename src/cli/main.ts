/** The program: finds the command, runs it, and turns whatever came of it into an exit code. */
import { isRefusal, Refusal } from './client/failures.ts';
import { createContext } from './context.ts';
import type { AnyCommand } from './define.ts';
import { codeOfFault, exitCodes, exitOfCode, exitOfFault } from './exit-codes.ts';
import { Fault, usage } from './fault.ts';
import { findCommand } from './find.ts';
import { type GlobalValues, globalFlags } from './globals.ts';
import { type Asked, hintOf, loginLine, messageOf } from './hints.ts';
import { nearest } from './nearest.ts';
import { checkArgs, parseWords, spellings } from './parse.ts';
import type { Programs } from './programs.ts';
import { resolveSettings } from './settings/settings.ts';
import type { Env, Io } from './terminal/io.ts';
import { Output } from './terminal/output.ts';
import { choosePaint } from './terminal/style.ts';
import { safeJson, safeProse } from './terminal/text.ts';
import { about, aboutText } from './version.ts';

interface Failure {
  readonly exit: number;
  readonly code: number | string;
  readonly message: string;
  readonly hint: string | null;
}

function explain(error: unknown, asked: Asked | null): Failure {
  if (error instanceof Refusal) {
    const request = error.code === 500 && error.requestId ? ` (request ${error.requestId})` : '';
    const hint =
      error.code === 500 ? 'the log of the server has it under that id' : hintOf(error.code, error.message, asked);
    const message = messageOf(error.code, error.message, asked) + request;
    return { exit: exitOfCode(error.code), code: error.code, message, hint };
  }
  if (error instanceof Fault) {
    const hint = error.hint?.replace(/devmgr login$/, loginLine(asked)) ?? null;
    return { exit: exitOfFault[error.kind], code: codeOfFault[error.kind], message: error.message, hint };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    exit: exitCodes.failure,
    code: 'FAILED',
    message: `something unexpected went wrong: ${message}`,
    hint: 'run it again with --verbose and report what it says',
  };
}

function report(
  error: unknown,
  asked: Asked | null,
  io: Io,
  env: Env,
  flags: { json: boolean; verbose: boolean; noColor: boolean },
): number {
  const { exit, code, message, hint } = explain(error, asked);
  if (error instanceof Fault && error.kind === 'closed') return exit;
  const paint = choosePaint(env, io.stderrIsTerminal, flags.noColor);
  if (flags.json) io.say(`${safeJson({ error: { code, message, hint } })}\n`);
  else
    io.say(
      `${paint('red', 'devmgr:')} ${safeProse(message)}\n${hint ? `  ${paint('cyan', '→')} ${safeProse(hint)}\n` : ''}`,
    );
  if (flags.verbose && error instanceof Error && !(error instanceof Fault) && !(error instanceof Refusal))
    io.say(`${safeProse(error.stack ?? '')}\n`);
  return exit;
}

/** Runs the program and resolves to its exit code. */
export async function run(argv: readonly string[], io: Io, env: Env, programs: Programs): Promise<number> {
  // What can be known of the flags before they have been understood, to report that they cannot.
  const end = argv.indexOf('--');
  const early = new Set(end < 0 ? argv : argv.slice(0, end));
  const flags = {
    json: early.has('--json'),
    verbose: early.has('--verbose') || early.has('-v'),
    noColor: early.has('--no-color'),
  };
  let asked: Asked | null = null;
  const understood = (command: Asked) => {
    asked = command;
  };
  try {
    return await dispatch(argv, { io, env, programs, understood });
  } catch (error) {
    return report(error, asked, io, env, flags);
  }
}

interface Surroundings {
  readonly io: Io;
  readonly env: Env;
  readonly programs: Programs;
  /** Told what is asked for, before it is done. */
  readonly understood: (asked: Asked) => void;
}

async function dispatch(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { io, env } = surroundings;
  const found = findCommand(argv);
  if (found.kind === 'version') {
    await io.write(versionWords(argv));
    return exitCodes.done;
  }
  const paint = choosePaint(env, io.stdoutIsTerminal, argv.includes('--no-color'));
  if (found.kind === 'help') {
    const { groupHelp, overview } = await import('./help.ts');
    const columns = Math.min(io.columns, 100);
    const text = found.group === null ? overview(columns, paint) : groupHelp(found.group, columns, paint);
    if (!found.wanted) refuseUnknown(argv);
    if (found.wanted) await io.write(text);
    else io.say(text);
    return found.wanted ? exitCodes.done : exitCodes.usage;
  }
  const command = await found.entry.load();
  const help = `devmgr ${command.name} --help shows how it is used`;
  const { args, flags } = await parseWords(found.words, { ...globalFlags, ...command.flags }, help);
  const globals = flags as unknown as GlobalValues;
  if (globals.help) {
    const { commandHelp } = await import('./help.ts');
    await io.write(commandHelp(command, Math.min(io.columns, 100), paint));
    return exitCodes.done;
  }
  checkArgs(command, args, help);
  return execute(command, args, flags, globals, surroundings);
}

/** A flag that no command has is named, in place of all the help there is. */
function refuseUnknown(argv: readonly string[]): void {
  const known = spellings(globalFlags);
  const wrong = argv.find(word => word.startsWith('-') && word !== '--' && !known.has(word.replace(/=.*/s, '')));
  if (wrong === undefined) return;
  const near = nearest(wrong, [...known.keys(), '--version']);
  throw usage(`there is no flag ${wrong}, and no command is named`, near ? `did you mean ${near}?` : 'devmgr --help');
}

/** `--version` needs no home and no settings, so that it answers where nothing else does. */
function versionWords(argv: readonly string[]): string {
  const facts = about();
  if (argv.includes('--json')) return `${safeJson(facts)}\n`;
  return argv.includes('--quiet') || argv.includes('-q') ? `${facts.version}\n` : aboutText(facts);
}

async function execute(
  command: AnyCommand,
  args: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  globals: GlobalValues,
  { io, env, programs, understood }: Surroundings,
): Promise<number> {
  const settings = resolveSettings(globals, env, command.makesProfile?.(args) ?? false);
  understood({ command, args, flags, globals, settings });
  const out = new Output(io, env, globals);
  const context = createContext({ io, out, env, settings, globals, programs });
  const runWith = async (words: readonly string[]): Promise<number> =>
    (await command.run({ args: words, flags: flags as Record<string, never> }, context)) ?? exitCodes.done;
  try {
    return await runWith(args);
  } catch (error) {
    const [name, ...rest] = args;
    if (!isRefusal(error, 2001) || command.args?.[0]?.name !== 'DEVICE' || name === undefined) throw error;
    const { namedLikeAnId } = await import('./commands/devices/device.ts');
    const deviceId = await namedLikeAnId(context, name);
    if (deviceId === null || deviceId === name) throw error;
    return await runWith([deviceId, ...rest]);
  } finally {
    out.end();
  }
}

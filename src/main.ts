/** The program: finds the command, runs it, and turns whatever came of it into an exit code. */
import { Refusal } from './client/failures.ts';
import { createContext } from './commands/context.ts';
import type { AnyCommand } from './commands/define.ts';
import { findCommand } from './commands/find.ts';
import { type GlobalValues, globalFlags } from './commands/globals.ts';
import { checkArgs, parseWords } from './commands/parse.ts';
import { codeOfFault, exitCodes, exitOfCode, exitOfFault } from './exit-codes.ts';
import { Fault } from './fault.ts';
import type { Programs } from './programs.ts';
import { resolveSettings } from './settings/settings.ts';
import type { Env, Io } from './terminal/io.ts';
import { Output } from './terminal/output.ts';
import { choosePaint } from './terminal/style.ts';
import { safeJson, safeProse } from './terminal/text.ts';
import { about, aboutText } from './version.ts';

const hints: Readonly<Record<number, string>> = {
  401: 'log in: devmgr login',
  1002: 'check the name, or have an administrator add it: devmgr users add NAME',
  1003: 'try again with the right password',
  1004: 'log in: devmgr login',
  1005: 'log in again: devmgr login',
  2001: 'find it: devmgr list --keyword PART',
  2002: 'see to whom: devmgr show DEVICE',
  2003: 'make a new code: devmgr code DEVICE --reason TEXT',
  2004: 'unlock it first: devmgr unlock DEVICE',
  2005: 'a deactivated device stays so; register another one',
  2006: 'look at the one that exists: devmgr show SERIAL',
  2007: 'devmgr whoami shows your role; ask an administrator',
  429: 'try again later, or leave out --no-wait',
  4001: 'see what there is: devmgr apps list',
};

interface Failure {
  readonly exit: number;
  readonly code: number | string;
  readonly message: string;
  readonly hint: string | null;
}

function explain(error: unknown): Failure {
  if (error instanceof Refusal) {
    const request = error.code === 500 && error.requestId ? ` (request ${error.requestId})` : '';
    const hint = error.code === 500 ? 'the log of the server has it under that id' : (hints[error.code] ?? null);
    return { exit: exitOfCode(error.code), code: error.code, message: error.message + request, hint };
  }
  if (error instanceof Fault)
    return { exit: exitOfFault[error.kind], code: codeOfFault[error.kind], message: error.message, hint: error.hint };
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
  io: Io,
  env: Env,
  flags: { json: boolean; verbose: boolean; noColor: boolean },
): number {
  const { exit, code, message, hint } = explain(error);
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
  try {
    return await dispatch(argv, io, env, programs);
  } catch (error) {
    return report(error, io, env, flags);
  }
}

async function dispatch(argv: readonly string[], io: Io, env: Env, programs: Programs): Promise<number> {
  const found = findCommand(argv);
  if (found.kind === 'version') {
    await io.write(versionWords(argv));
    return exitCodes.done;
  }
  const paint = choosePaint(env, io.stdoutIsTerminal, argv.includes('--no-color'));
  if (found.kind === 'help') {
    const { groupHelp, overview } = await import('./commands/help.ts');
    const columns = Math.min(io.columns, 100);
    const text = found.group === null ? overview(columns, paint) : groupHelp(found.group, columns, paint);
    if (found.wanted) await io.write(text);
    else io.say(text);
    return found.wanted ? exitCodes.done : exitCodes.usage;
  }
  const command = await found.entry.load();
  const help = `devmgr ${command.name} --help shows how it is used`;
  const { args, flags } = await parseWords(found.words, { ...globalFlags, ...command.flags }, help);
  const globals = flags as unknown as GlobalValues;
  if (globals.help) {
    const { commandHelp } = await import('./commands/help.ts');
    await io.write(commandHelp(command, Math.min(io.columns, 100), paint));
    return exitCodes.done;
  }
  checkArgs(command, args, help);
  return execute(command, args, flags, globals, { io, env, programs });
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
  { io, env, programs }: { io: Io; env: Env; programs: Programs },
): Promise<number> {
  const settings = resolveSettings(globals, env, command.makesProfile?.(args) ?? false);
  const out = new Output(io, env, globals);
  const context = createContext({ io, out, env, settings, globals, programs });
  try {
    return (await command.run({ args, flags: flags as Record<string, never> }, context)) ?? exitCodes.done;
  } finally {
    out.end();
  }
}

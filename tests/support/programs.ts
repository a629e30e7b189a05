/** The daemon's own programs, run in this process as the command line runs them. */
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ProgramIo } from '../../src/contract/programs.ts';

export interface RanProgram {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runDaemonProgram<O>(
  program: (options: O, io: ProgramIo) => Promise<number>,
  options: O,
  env: ProgramIo['env'] = {},
): Promise<RanProgram> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = Promise.all([text(stdout), text(stderr)]);
  const code = await program(options, { stdout, stderr, env, stdoutIsTerminal: false, stderrIsTerminal: false });
  stdout.end();
  stderr.end();
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}

/** Runs command lines one after the other in this process, each with its own environment and streams: CommandRunner sends them. */
import { Readable, Writable } from 'node:stream';
import { run } from '../../src/cli/main.ts';
import type { Io } from '../../src/cli/terminal/io.ts';
import type { CommandLine, CommandResult } from './command-runner.ts';
import { noPrograms } from './no-programs.ts';

process.on('message', async ({ args, env, input, program }: CommandLine) => {
  // Commands that start the program again start the built one.
  process.argv[1] = program;
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  const written = { stdout: '', stderr: '' };
  const code = await run(args, inMemory(input, written), process.env, noPrograms);
  process.send!({ code, ...written } satisfies CommandResult);
});
process.on('disconnect', () => process.exit());

/** The streams of a process without a terminal. */
function inMemory(input: string | Uint8Array, written: { stdout: string; stderr: string }): Io {
  const into = (name: 'stdout' | 'stderr') =>
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _encoding, done) {
        written[name] += chunk;
        done();
      },
    });
  return {
    stdin: Readable.from([Buffer.from(input)], { objectMode: false }),
    stdout: into('stdout'),
    stderr: into('stderr'),
    stdinIsTerminal: false,
    stdoutIsTerminal: false,
    stderrIsTerminal: false,
    columns: Number.POSITIVE_INFINITY,
    rows: Number.POSITIVE_INFINITY,
    interrupt: new AbortController().signal,
    withoutExit: () => () => undefined,
    finishing: () => () => undefined,
    async write(text) {
      written.stdout += text;
    },
    say(text) {
      written.stderr += text;
    },
  };
}

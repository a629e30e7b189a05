/** The command line as a process of its own, whose daemon hashes passwords at little cost. For daemons of which a test needs no build. */
import { run } from '../../src/cli/main.ts';
import { processIo } from '../../src/cli/terminal/io.ts';
import type { Programs } from '../../src/contract/programs.ts';
import { cheapHashes } from './cheap-hashes.ts';
import { noPrograms } from './no-programs.ts';

const programs: Programs = {
  ...noPrograms,
  // As in the program, a command does not load the daemon.
  run: async (options, io) =>
    (await import('../../daemon/start/run.ts')).run({ ...options, passwordCost: cheapHashes }, io),
};
process.env.UV_THREADPOOL_SIZE ??= '16';
process.exit(await run(process.argv.slice(2), processIo(), process.env, programs));

/** A daemon as a process of its own, run from the sources: what a test kills, starves or measures. Options: JSON in argv. */
import { run } from '../../daemon/start/run.ts';
import { cheapHashes } from './cheap-hashes.ts';

const options = JSON.parse(process.argv[2]!);
process.exit(
  await run(
    {
      host: '127.0.0.1',
      port: 0,
      json: true,
      verbose: false,
      passwordCost: cheapHashes,
      ...options,
    },
    {
      stdout: process.stdout,
      stderr: process.stderr,
      env: process.env,
      stdoutIsTerminal: false,
      stderrIsTerminal: false,
    },
  ),
);

/** `daemon restore` as a process of its own, which a test can kill. Options: JSON in argv. */
import { restore } from '../../daemon/maintenance/restore.ts';

const { stdout, stderr, env } = process;
const io = { stdout, stderr, env, stdoutIsTerminal: false, stderrIsTerminal: false };
process.exit(await restore(JSON.parse(process.argv[2]!), io));

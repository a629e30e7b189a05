/** `daemon copy` as a process of its own, which a test can kill. Options: JSON in argv. */
import { copy } from '../../daemon/maintenance/copy.ts';

const { stdout, stderr, env } = process;
const io = { stdout, stderr, env, stdoutIsTerminal: false, stderrIsTerminal: false };
process.exit(await copy(JSON.parse(process.argv[2]!), io));

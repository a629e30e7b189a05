/** `daemon backup` as a process of its own, which a test can kill. Options: JSON in argv. */
import { backup } from '../../daemon/maintenance/backup.ts';

const { stdout, stderr, env } = process;
const io = { stdout, stderr, env, stdoutIsTerminal: false, stderrIsTerminal: false };
process.exit(await backup(JSON.parse(process.argv[2]!), io));

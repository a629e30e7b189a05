/** A maintenance program as a process of its own, which a test can kill. In argv: its name, and its options as JSON. */
import { backup } from '../../daemon/maintenance/backup.ts';
import { copy } from '../../daemon/maintenance/copy.ts';
import { restore } from '../../daemon/maintenance/restore.ts';

const programs = { backup, copy, restore };
/** The name of a program. */
export type MaintenanceName = keyof typeof programs;

if (import.meta.main) {
  const [name, options] = process.argv.slice(2) as [MaintenanceName, string];
  const { stdout, stderr, env } = process;
  const io = { stdout, stderr, env, stdoutIsTerminal: false, stderrIsTerminal: false };
  process.exit(await programs[name](JSON.parse(options), io));
}

/**
 * `npm run test:cluster`: three registry daemons on a PostgreSQL cluster under load and faults. Exit code 1 if anything was lost, came
 * twice or took too long; 2 if the machine lacks something. See README.md.
 */
import { missingHere } from './requirements.ts';
import { runInSandbox, sandboxFolder } from './sandbox.ts';
import { readSettings } from './settings.ts';

const settings = readSettings(process.argv.slice(2));
const folder = sandboxFolder();
const missing = folder === null ? missingHere() : null;
if (missing !== null) {
  console.error(`test:cluster: ${missing}`);
  process.exit(2);
}
if (folder === null) process.exit(await runInSandbox());
const { runPhases } = await import('./run.ts');
process.exit(await runPhases(folder, settings));

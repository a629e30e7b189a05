// `npm run lint`: every part runs and reports, whether another one has failed or not.
import { lintChecks, runChecks } from './lib/checks.mjs';

const failed = await runChecks(lintChecks, { env: process.env });
process.stdout.write(failed.length === 0 ? '\ngood\n' : `\nFAILED: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { it } from 'vitest';
import { describeRuns, type Sender } from '../support/postman-runs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const program = join(import.meta.dirname, '../newman/node_modules/newman/bin/newman.js');

interface Report {
  readonly stats: { readonly requests: { readonly total: number } };
  readonly failures: readonly { readonly error: Error; readonly source: { readonly name: string } }[];
}

const send: Sender = async (collection, { environment, only = [] }) => {
  const folder = temporaryFolder();
  const report = join(folder, 'report.json');
  await writeFile(join(folder, 'collection.json'), JSON.stringify(collection));
  const options = [
    ...['--reporters', 'json', '--reporter-json-export', report],
    ...Object.entries(environment).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]),
    ...only.flatMap(name => ['--folder', name]),
  ];
  // It fails if a request does; the report has the reasons.
  await promisify(execFile)(process.execPath, [program, 'run', 'collection.json', ...options], { cwd: folder }).catch(
    () => undefined,
  );
  const { stats, failures } = JSON.parse(await readFile(report, 'utf8')).run as Report;
  return {
    requests: stats.requests.total,
    failures: failures.map(({ error, source }) => `${source.name}: ${error.message}`),
  };
};

if (existsSync(program) || process.env.CI) describeRuns('newman with the Postman collection', send);
else it.skip('newman runs the Postman collection (needs: node tests/tools/setup.mjs newman)');

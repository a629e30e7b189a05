import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { buildOpenapi } from '../../src/contract/openapi.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = join(import.meta.dirname, '../linters');
const program = join(folder, 'node_modules/@stoplight/spectral-cli/dist/index.js');

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly path: readonly string[];
}

async function findingsIn(document: object): Promise<string[]> {
  const file = join(temporaryFolder(), 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  const options = ['lint', file, '--ruleset', join(folder, 'ruleset.yaml'), '--format', 'json', '--quiet'];
  // It fails if there is an error; the report has all findings.
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...options]).catch(
    (failed: { stdout: string }) => failed,
  );
  return (JSON.parse(stdout) as Finding[]).map(({ code, message, path }) => `${code}: ${message} (${path.join(' ')})`);
}

it.skipIf(!existsSync(program) && !process.env.CI)(
  'Spectral has no errors and no warnings for the OpenAPI document (needs: node tests/tools/setup.mjs linters)',
  { timeout: 240_000 },
  async () => {
    const document = JSON.parse(JSON.stringify(buildOpenapi('0.0.0')));
    expect(await findingsIn(document)).toEqual([]);
    const health = { ...document.paths['/api/health'] };
    health.get.tags = ['Undeclared'];
    expect(await findingsIn({ ...document, paths: { '/api/health': health } })).toEqual(
      expect.arrayContaining([expect.stringContaining('operation-tag-defined')]),
    );
  },
);

// `npm run docs`: writes the pages of docs/reference, and what the recorded blocks of the other pages show.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { referencePages } from './reference.ts';

const root = join(import.meta.dirname, '../..');
for (const { file, text } of await referencePages()) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
  process.stdout.write(`wrote ${file}\n`);
}

// `npm run docs`: writes the pages of docs/reference, and what the recorded sessions on the other pages show.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { recorded, tellTheSame } from './recordings.ts';
import { referencePages } from './reference.ts';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'dist/devmgr.cjs');

for (const { file, text } of await referencePages()) write(file, text);
for (const name of readdirSync(join(root, 'docs')).filter(name => name.endsWith('.md'))) {
  const page = readFileSync(join(root, 'docs', name), 'utf8');
  const text = await recorded(page, program);
  if (text !== null && !tellTheSame(text, page)) write(`docs/${name}`, text);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
  process.stdout.write(`wrote ${file}\n`);
}

/**
 * A rolling upgrade under load. There is only one release here: the next one is a copy of its sources with one more step of the schema,
 * which adds a column and shows `readableBy` the version before.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { migrations } from '../../../daemon/store/postgres/migrations.ts';
import type { Cluster } from '../cluster.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const sources = [
  'LICENSE',
  'bin',
  'src',
  'daemon',
  'drivers',
  'console',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
/** The end of the list of steps. */
const LIST_END = '\n];';

/** Errors that a client may get while a node is replaced: 503 of a daemon that has said when to come back. */
const ALLOWED = /^503: /;

/** Replaces each node by the next release, one after the other, when it has drained. */
export async function upgradeNodes(cluster: Cluster, i: number): Promise<string> {
  const version = migrations.length + i + 1;
  const program = await buildRelease(join(cluster.folder, `release-${version}`), version);
  const before = new Map(cluster.requests.again);
  for (const node of cluster.nodes) {
    await node.stop();
    node.program = program;
    node.start();
    await node.ready();
  }
  const [row] = await cluster.databases.query('SELECT version::int, readable_by::int FROM devmgr_schema');
  if (row!.version !== version) throw new Error(`the schema has version ${row!.version}, not ${version}`);
  const seen = [...cluster.requests.again].map(([why, times]) => [why, times - (before.get(why) ?? 0)] as const);
  const failed = seen.filter(([why, times]) => times > 0 && !ALLOWED.test(why));
  if (failed.length > 0) throw new Error(`requests failed: ${failed.map(([why, times]) => `${times} × ${why}`)}`);
  const again = seen.reduce((sum, [, times]) => sum + times, 0);
  return `schema ${version - 1} to ${version}, ${again} requests were answered 503 with Retry-After, no other failed`;
}

/** Builds the next release in a folder, with steps up to this version. Returns its program. */
async function buildRelease(folder: string, version: number): Promise<string> {
  mkdirSync(folder);
  for (const name of sources) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'daemon/store/postgres/migrations.ts');
  const text = readFileSync(file, 'utf8');
  const at = text.lastIndexOf(LIST_END);
  if (at < 0) throw new Error(`${file} has no list of steps`);
  writeFileSync(file, text.slice(0, at) + stepsUpTo(version) + text.slice(at));
  await promisify(execFile)(process.execPath, ['scripts/build.mjs'], { cwd: folder });
  return join(folder, 'dist', 'devmgr.cjs');
}

function stepsUpTo(version: number): string {
  const numbers = Array.from({ length: version - migrations.length }, (_, i) => migrations.length + i + 1);
  const step = (number: number) =>
    `{ number: ${number}, name: 'column of a next release', readableBy: ${migrations.length}, sql: 'ALTER TABLE device ADD COLUMN later_${number} text' },`;
  return `\n${numbers.map(step).join('\n')}`;
}

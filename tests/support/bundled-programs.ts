/**
 * Bundles the programs that tests start as processes. From the sources, a daemon takes 0.9 s of processor time before it listens, most
 * of it to read modules; from a bundle 0.4 s, and the tests start hundreds of daemons.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OutputAsset, type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { natives } from '../../scripts/build.mjs';
import { definitions } from '../../scripts/lib/identity.mjs';
import { programNames, programsFolder } from './test-programs.ts';

const root = join(import.meta.dirname, '..', '..');
const cache = join(root, 'node_modules', '.cache');
const prefix = 'devmgr-tests-';
const dayMs = 24 * 3_600_000;

/** An import of node:http reads each of its exports, and two of them load undici: 8 % of the processor time of a start. */
const lazyHttp: Plugin = {
  name: 'lazy-http',
  resolveId: name => (/^node:https?$/.test(name) ? `\0${name}` : null),
  load(id) {
    const builtin = /^\0(node:https?)$/.exec(id)?.[1];
    return builtin === undefined ? null : `module.exports = process.getBuiltinModule('${builtin}');`;
  },
};

/** Vitest calls it before the tests of each run, so the bundles always have the sources of the run. */
export default async function bundlePrograms(): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(programNames.map(name => [name, `tests/support/${name}.ts`])),
    platform: 'node',
    tsconfig: false,
    plugins: [lazyHttp],
    transform: { define: definitions() },
    external: name => natives.some(native => name === native || name.startsWith(`${native}/`)),
  });
  try {
    const { output } = await build.generate({
      format: 'es',
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
    });
    process.env[programsFolder] = place(output);
  } finally {
    await build.close();
  }
}

/** Writes the files to a folder that is named by their content: runs at the same time share it. Returns its path. */
function place(output: readonly (OutputChunk | OutputAsset)[]): string {
  const files = output.map(file => ({ name: file.fileName, text: file.type === 'chunk' ? file.code : file.source }));
  const digest = createHash('sha256');
  for (const { name, text } of files) digest.update(name).update(text);
  const folder = join(cache, `${prefix}${digest.digest('hex').slice(0, 16)}`);
  const temporary = `${folder}.${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  for (const { name, text } of files) writeFileSync(join(temporary, name), text);
  try {
    renameSync(temporary, folder);
  } catch {
    // Another run has written it.
    rmSync(temporary, { recursive: true });
  }
  removeOld();
  return folder;
}

function removeOld(): void {
  for (const name of readdirSync(cache).filter(name => name.startsWith(prefix))) {
    const folder = join(cache, name);
    const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > dayMs) rmSync(folder, { recursive: true, force: true });
  }
}

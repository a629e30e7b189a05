/** Replaces the registry by a backup. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { FileOptions, ProgramIo } from '../../src/contract/programs.ts';
import { BEFORE_RESTORE, beforeRestoreName } from '../blobs/blobs.ts';
import { linkOrCopy } from '../files.ts';
import { HeadFile } from '../home/head-file.ts';
import { Home } from '../home/home.ts';
import { journalKeys } from '../home/journal-keys.ts';
import { lockHome } from '../home/lock.ts';
import { StartRefused } from '../home/settings.ts';
import { print, reporting } from '../program-io.ts';
import type { CheckReport, StagedRestore } from '../store/maintenance.ts';
import { type Reader, StoreFailure } from '../store/store.ts';
import { storeMaintenance } from '../store-engine.ts';

/** Replaces the registry by a backup; the present registry stays beside it. Refuses while a daemon is running. */
export function restore(options: FileOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    await stat(options.home).catch(() => {
      throw new StartRefused(1, `there is no folder ${options.home}`, 'name the home of the daemon with --home');
    });
    const home = await Home.open(options.home);
    const lock = await lockHome(home);
    try {
      const { devices, entries, kept } = await replace(home, resolve(options.file));
      const earlier = kept ? `the previous registry is in ${kept}` : 'there was no registry before';
      const text = `restored ${devices} devices; ${earlier}\n`;
      await print(io.stdout, options.json ? `${JSON.stringify({ devices, entries, kept })}\n` : text);
      return 0;
    } finally {
      await lock.release();
    }
  });
}

/** If the disk is full or the backup damaged, the registry stays as it is. */
async function replace(home: Home, file: string): Promise<CheckReport & { readonly kept: string | null }> {
  const staged = await stage(home, file);
  try {
    const [problem] = staged.report.problems;
    if (problem) throw new StartRefused(1, `${file} is damaged: ${problem}`, 'nothing was changed; try another backup');
    const label = beforeRestoreName('');
    const kept = await staged.keepPresent(label);
    await returnBlobs(home, staged.reader);
    const unknown = await keepUnknownBlobs(home, staged.reader, label);
    await recordRestore(home, staged.reader);
    // A registry and its files are in place at every moment: an interruption leaves the previous one or the restored one.
    await staged.install();
    for (const file of unknown) await rm(file, { force: true });
    return { ...staged.report, kept };
  } finally {
    await staged.discard();
  }
}

async function stage(home: Home, file: string): Promise<StagedRestore> {
  try {
    return await storeMaintenance(home).stageRestore(file);
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
    const { message } = (error.cause ?? error) as Error;
    throw new StartRefused(1, `${file} cannot be read: ${message}`, 'nothing was changed; try another backup');
  }
}

/**
 * Signs that the journal goes back. Before the restored one is in place: if the restore is interrupted here, the present journal
 * normally contains that head as well.
 */
async function recordRestore(home: Home, restored: Reader): Promise<void> {
  const heads = await HeadFile.open(home, await journalKeys(home));
  if (heads.problem)
    throw new StartRefused(
      1,
      heads.problem,
      `keep ${home.path('journalHeads')} as evidence, move it away, and restore again`,
    );
  await heads.append('restored', (await restored.journalHead()) ?? { id: 0, mac: '' }, Date.now());
}

/** Brings back files that an earlier restore kept with the registry it replaced: that may be the one to be restored now. */
async function returnBlobs(home: Home, restored: Reader): Promise<void> {
  const blobs = home.path('blobs');
  await mkdir(blobs, { recursive: true, mode: 0o700 });
  const present = new Set(await filesIn(blobs));
  const folders = (await readdir(home.dir)).filter(name => name.startsWith(`${basename(blobs)}${BEFORE_RESTORE}`));
  for (const folder of folders) {
    const names = (await filesIn(join(home.dir, folder))).filter(name => !present.has(name));
    for (const name of await restored.knownBlobs(names))
      await linkOrCopy(join(home.dir, folder, name), join(blobs, name));
  }
}

/** Keeps the files that the restored registry does not know with the previous one. Returns their paths, to be removed after the restore. */
async function keepUnknownBlobs(home: Home, restored: Reader, label: string): Promise<readonly string[]> {
  const blobs = home.path('blobs');
  const names = await filesIn(blobs);
  const known = await restored.knownBlobs(names);
  const unknown = names.filter(name => !known.has(name));
  if (unknown.length === 0) return [];
  await mkdir(blobs + label, { mode: 0o700 });
  for (const name of unknown) await linkOrCopy(join(blobs, name), join(blobs + label, name));
  return unknown.map(name => join(blobs, name));
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter(entry => entry.isFile()).map(entry => entry.name);
}

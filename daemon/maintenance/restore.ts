/** Puts a copy of the registry back. */
import { copyFile, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ASIDE, asideName } from '../blobs/staged.ts';
import { Home } from '../home/home.ts';
import { lockHome } from '../home/lock.ts';
import { StartRefused } from '../home/settings.ts';
import { type ProgramIo, print, reporting } from '../program-io.ts';
import { backupDatabase, type CheckReport, checkDatabase, foldLog } from '../store/sqlite/index.ts';
import { openSqliteReader, type SqliteReader } from '../store/sqlite/reader.ts';
import type { FileOptions } from './maintenance.ts';

/** Files that SQLite may keep beside a database. */
const companions = ['-wal', '-shm'];

/** Puts a copy in the place of the registry; the one that was there is kept beside it. Refuses while a daemon runs. */
export function restore(options: FileOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    await stat(options.home).catch(() => {
      throw new StartRefused(1, `there is no folder ${options.home}`, 'name the home of the daemon with --home');
    });
    const home = await Home.open(options.home);
    const lock = await lockHome(home);
    try {
      const { devices, entries, kept } = await replace(home, resolve(options.file));
      const earlier = kept ? `the registry that was there is kept as ${kept}` : 'there was no registry before';
      const words = `restored ${devices} devices; ${earlier}\n`;
      await print(io.stdout, options.json ? `${JSON.stringify({ devices, entries, kept })}\n` : words);
      return 0;
    } finally {
      await lock.release();
    }
  });
}

/** What is checked is what is then put in place. A disk that is full, or a copy that is damaged, leaves the registry as it is. */
async function replace(home: Home, file: string): Promise<CheckReport & { readonly kept: string | null }> {
  const database = home.path('database');
  const aside = `${database}.restoring`;
  try {
    await rm(aside, { force: true });
    await copyDatabase(file, aside);
    const report = await checkDatabase(aside, await home.existingKey('journalKey'));
    if (report.problems.length)
      throw new StartRefused(
        1,
        `${file} is not whole: ${report.problems[0]}`,
        'nothing was changed; try another backup',
      );
    await sync(aside);
    foldLog(database);
    const kept = asideName(database);
    const existed = await keepBeside(database, kept);
    for (const suffix of companions) await keepBeside(database + suffix, kept + suffix);
    const strays = await exchangeBlobs(home, aside);
    // The registry is never without its database or its files: an end in between leaves the earlier one or the restored one.
    for (const suffix of companions) await rm(database + suffix, { force: true });
    await rename(aside, database);
    if (process.platform !== 'win32') await sync(dirname(database));
    for (const file of strays) await rm(file, { force: true });
    return { ...report, kept: existed ? kept : null };
  } finally {
    for (const suffix of ['', ...companions]) await rm(aside + suffix, { force: true });
  }
}

/** By SQLite itself: what a crash has left beside the file belongs to it. */
async function copyDatabase(file: string, to: string): Promise<void> {
  try {
    await backupDatabase(file, to);
  } catch (error) {
    const { message } = ((error as Error).cause ?? error) as Error;
    throw new StartRefused(1, `${file} cannot be read: ${message}`, 'nothing was changed; try another backup');
  }
}

/** A second name for the same file; a copy where the file system has no such thing. False where there is no file. */
async function keepBeside(file: string, kept: string): Promise<boolean> {
  try {
    await link(file, kept);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    await copyFile(file, kept);
  }
  return true;
}

/** Gives the registry to be restored the files it knows. Returns those it does not, which are to go when it is in place. */
async function exchangeBlobs(home: Home, restored: string): Promise<readonly string[]> {
  const reader = openSqliteReader({ file: restored, journalKey: await home.existingKey('journalKey') });
  try {
    await bringBackBlobs(home, reader);
    return await keepUnknownBlobs(home, reader);
  } finally {
    reader.close();
  }
}

/** What an earlier restore has set aside belongs to the registry that was kept then, which may be the one to be restored. */
async function bringBackBlobs(home: Home, restored: SqliteReader): Promise<void> {
  const blobs = home.path('blobs');
  await mkdir(blobs, { recursive: true, mode: 0o700 });
  const there = new Set(await filesIn(blobs));
  const folders = (await readdir(home.dir)).filter(name => name.startsWith(`${basename(blobs)}${ASIDE}`));
  for (const folder of folders) {
    const names = (await filesIn(join(home.dir, folder))).filter(name => !there.has(name));
    for (const name of await restored.knownBlobs(names))
      await keepBeside(join(home.dir, folder, name), join(blobs, name));
  }
}

/** Files that the registry to be restored does not know are kept with the earlier one: the next start takes them for strays. */
async function keepUnknownBlobs(home: Home, restored: SqliteReader): Promise<readonly string[]> {
  const blobs = home.path('blobs');
  const names = await filesIn(blobs);
  const known = await restored.knownBlobs(names);
  const unknown = names.filter(name => !known.has(name));
  if (unknown.length === 0) return [];
  const aside = asideName(blobs);
  await mkdir(aside, { mode: 0o700 });
  for (const name of unknown) await keepBeside(join(blobs, name), join(aside, name));
  return unknown.map(name => join(blobs, name));
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter(entry => entry.isFile()).map(entry => entry.name);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

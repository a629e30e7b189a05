/** Programs that work on the registry of a home: copy it, put a copy back, look whether it is whole. */
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { homeFiles } from '../../src/api/local.ts';
import { Home } from '../home.ts';
import { lockHome } from '../lock.ts';
import { runningPid } from '../running.ts';
import { StartRefused } from '../settings.ts';
import { rotateSigningKey } from '../signing-keys.ts';
import { backupDatabase, type CheckReport, checkDatabase } from '../store/sqlite/index.ts';
import { openSqliteReader } from '../store/sqlite/reader.ts';
import { checkBlobs } from './check-blobs.ts';
import { type ProgramIo, print, reporting } from './io.ts';

export interface HomeOptions {
  readonly home: string;
  readonly json: boolean;
}

export interface FileOptions extends HomeOptions {
  readonly file: string;
}

/** Copies the registry into a new file, also while a daemon runs. Uploaded files and keys are not in it. */
export function backup(options: FileOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const file = resolve(options.file);
    await backupDatabase(home.path('database'), file);
    const { size } = await stat(file);
    await print(io.stdout, options.json ? `${JSON.stringify({ file, size })}\n` : `${file}\n`);
    io.stderr.write(
      options.json
        ? ''
        : `Keep beside it: ${homeFiles.journalKey}, ${homeFiles.signingKey} and the folder ${homeFiles.blobs} of ${home.dir}\n`,
    );
    return 0;
  });
}

/** Puts a copy in the place of the registry; the one that was there is kept beside it. Refuses while a daemon runs. */
export function restore(options: FileOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const lock = await lockHome(home);
    try {
      const report = await checkDatabase(resolve(options.file), await home.secretKey('journalKey'));
      if (report.problems.length)
        throw new StartRefused(
          1,
          `${options.file} is not whole: ${report.problems[0]}`,
          'nothing was changed; try another backup',
        );
      const kept = await replaceDatabase(home, resolve(options.file));
      await setAsideUnknownBlobs(home);
      const words = `restored ${report.devices} devices; the registry that was there is kept as ${kept ?? '(there was none)'}\n`;
      await print(
        io.stdout,
        options.json ? `${JSON.stringify({ devices: report.devices, entries: report.entries, kept })}\n` : words,
      );
      return 0;
    } finally {
      await lock.release();
    }
  });
}

/** The copy is made aside first: a disk that is full leaves the present registry where it is. */
async function replaceDatabase(home: Home, file: string): Promise<string | null> {
  const database = home.path('database');
  const aside = `${database}.restoring`;
  await copyFile(file, aside);
  const kept = `${database}.before-restore-${stamp()}`;
  const existed = await rename(database, kept).then(
    () => true,
    () => false,
  );
  for (const suffix of ['-wal', '-shm'])
    if (existed) await rename(database + suffix, kept + suffix).catch(() => undefined);
    else await rm(database + suffix, { force: true });
  await rename(aside, database);
  return existed ? kept : null;
}

/** Files that the restored registry does not know go aside with the earlier one: the next start would take them for strays. */
async function setAsideUnknownBlobs(home: Home): Promise<void> {
  const blobs = home.path('blobs');
  const names = (await readdir(blobs, { withFileTypes: true }).catch(() => []))
    .filter(entry => entry.isFile())
    .map(entry => entry.name);
  const reader = openSqliteReader({ file: home.path('database'), journalKey: await home.secretKey('journalKey') });
  try {
    const known = await reader.knownBlobs(names);
    const unknown = names.filter(name => !known.has(name));
    if (unknown.length === 0) return;
    const aside = `${blobs}.before-restore-${stamp()}`;
    await mkdir(aside, { mode: 0o700 });
    for (const name of unknown) await rename(join(blobs, name), join(aside, name));
  } finally {
    reader.close();
  }
}

const stamp = (): string => new Date().toISOString().replaceAll(/[:.]/g, '-');

/** Looks whether database, journal, counters and uploaded files are whole. Exit code 1 where they are not. */
export function check(options: HomeOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const journalKey = await home.secretKey('journalKey');
    const report = await checkDatabase(home.path('database'), journalKey);
    const blobs = await checkBlobs(home, journalKey);
    const problems = [...report.problems, ...blobs.problems];
    await print(
      io.stdout,
      options.json
        ? `${JSON.stringify({ ...report, files: blobs.files, problems })}\n`
        : checkWords(report, blobs.files, problems),
    );
    return problems.length ? 1 : 0;
  });
}

function checkWords(report: CheckReport, files: number, problems: readonly string[]): string {
  const seen = `${report.devices} devices, ${report.entries} journal entries, ${files} files`;
  return problems.length ? `${problems.join('\n')}\n${problems.length} problems; ${seen}\n` : `whole: ${seen}\n`;
}

/** A new signing key. Tokens given so far stay good until they expire; a daemon that runs takes it up at once. */
export function rotateKey(options: HomeOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    await rotateSigningKey(home, Date.now());
    const pid = await runningPid(home);
    if (pid !== null) process.kill(pid, 'SIGHUP');
    const words = `new signing key; ${pid === null ? 'no daemon runs' : `the daemon (process ${pid}) has been told`}\n`;
    await print(io.stdout, options.json ? `${JSON.stringify({ daemon: pid })}\n` : words);
    return 0;
  });
}

/** These programs make no registry where there is none. */
export async function existingHome(dir: string): Promise<Home> {
  await stat(join(dir, homeFiles.database)).catch(() => {
    throw new StartRefused(1, `there is no registry in ${dir}`, 'name the home of the daemon with --home');
  });
  return Home.open(dir);
}

/** Programs that work on the registry of a home: copy it, look whether it is whole, make a new signing key. */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { homeFiles } from '../../src/contract/local.ts';
import { Home } from '../home/home.ts';
import { runningPid } from '../home/running.ts';
import { StartRefused } from '../home/settings.ts';
import { rotateSigningKey } from '../home/signing-keys.ts';
import { type ProgramIo, print, reporting } from '../program-io.ts';
import { backupDatabase, type CheckReport, checkDatabase } from '../store/sqlite/index.ts';
import { checkBlobs } from './check-blobs.ts';

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

/** Looks whether database, journal, counters and uploaded files are whole. Exit code 1 where they are not. */
export function check(options: HomeOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const journalKey = await home.existingKey('journalKey');
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
  const seen = [
    counted(report.devices, 'device', 'devices'),
    counted(report.entries, 'journal entry', 'journal entries'),
    counted(files, 'file', 'files'),
  ].join(', ');
  const found = counted(problems.length, 'problem', 'problems');
  return problems.length ? `${problems.join('\n')}\n${found}; ${seen}\n` : `whole: ${seen}\n`;
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

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

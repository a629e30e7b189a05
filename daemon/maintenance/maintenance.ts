/** Programs for the registry of a home: check it, replace the signing key. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFiles } from '../../src/contract/local.ts';
import type { HomeOptions, ProgramIo, RotateKeyOptions } from '../../src/contract/programs.ts';
import { Home } from '../home/home.ts';
import { runningPid } from '../home/lock.ts';
import { StartRefused } from '../home/settings.ts';
import { rotateSigningKey } from '../home/signing-keys.ts';
import { print, reporting } from '../program-io.ts';
import type { StoreMaintenance } from '../store/maintenance.ts';
import { storeMaintenance } from '../store-engine.ts';
import { type BlobReport, blobProblems, checkBlobs } from './check-blobs.ts';

/** Checks storage, journal, counters and uploaded files. Exit code 1 if there are problems. */
export function check(options: HomeOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const store = storeMaintenance(home);
    const { unproven: _, ...report } = await store.check();
    const blobs = await checkFiles(store, home);
    const problems = [...report.problems, ...blobProblems(blobs)];
    await print(
      io.stdout,
      options.json
        ? `${JSON.stringify({ ...report, files: blobs.files, problems })}\n`
        : checkText({ ...report, files: blobs.files, problems }),
    );
    return problems.length ? 1 : 0;
  });
}

async function checkFiles(store: StoreMaintenance, home: Home): Promise<BlobReport> {
  const reader = await store.openReader();
  try {
    return await checkBlobs(reader, [home.path('blobs')]);
  } finally {
    await reader.close();
  }
}

interface Checked {
  readonly devices: number;
  readonly entries: number;
  readonly files: number;
  readonly problems: readonly string[];
}

function checkText({ devices, entries, files, problems }: Checked): string {
  const checked = [
    counted(devices, 'device', 'devices'),
    counted(entries, 'journal entry', 'journal entries'),
    counted(files, 'file', 'files'),
  ].join(', ');
  if (problems.length === 0) return `OK: ${checked} checked\n`;
  return `${problems.join('\n')}\n${counted(problems.length, 'problem', 'problems')}; ${checked} checked\n`;
}

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/**
 * Creates a new signing key, which a running daemon uses at once. Tokens issued so far stay valid until they expire; with
 * `revokeNow` they are invalid at once.
 */
export function rotateKey(options: RotateKeyOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const revokeNow = options.revokeNow ?? false;
    await rotateSigningKey(home, Date.now(), { revokeNow });
    const pid = await runningPid(home);
    if (pid !== null) process.kill(pid, 'SIGHUP');
    const revoked = revokeNow ? 'all earlier tokens are revoked; ' : '';
    const user = pid === null ? 'no daemon is running' : `the daemon (process ${pid}) uses it now`;
    const text = `new signing key; ${revoked}${user}\n`;
    await print(io.stdout, options.json ? `${JSON.stringify({ daemon: pid })}\n` : text);
    return 0;
  });
}

/** Opens a home that has a registry; refuses any other, because these programs create none. */
export async function existingHome(dir: string): Promise<Home> {
  await stat(join(dir, homeFiles.database)).catch(() => {
    throw new StartRefused(1, `there is no registry in ${dir}`, 'name the home of the daemon with --home');
  });
  return Home.open(dir);
}

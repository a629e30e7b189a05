/** Programs for the registry of a home: back it up, check it, replace the signing key. */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { homeFiles } from '../../src/contract/local.ts';
import type { FileOptions, HomeOptions, ProgramIo, RotateKeyOptions } from '../../src/contract/programs.ts';
import { Home } from '../home/home.ts';
import { runningPid } from '../home/lock.ts';
import { StartRefused } from '../home/settings.ts';
import { rotateSigningKey } from '../home/signing-keys.ts';
import { print, reporting } from '../program-io.ts';
import type { CheckReport } from '../store/maintenance.ts';
import { storeMaintenance } from '../store-engine.ts';
import { checkBlobs } from './check-blobs.ts';

/** Copies the registry into a new file, also while a daemon is running. Does not include uploaded files and keys. */
export function backup(options: FileOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const file = resolve(options.file);
    await storeMaintenance(home).backup(file);
    const { size } = await stat(file);
    await print(io.stdout, options.json ? `${JSON.stringify({ file, size })}\n` : `${file}\n`);
    io.stderr.write(
      options.json
        ? ''
        : `Also keep ${homeFiles.journalKey}, ${homeFiles.signingKey} and the folder ${homeFiles.blobs} of ${home.dir}\n`,
    );
    return 0;
  });
}

/** Checks storage, journal, counters and uploaded files. Exit code 1 if there are problems. */
export function check(options: HomeOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const store = storeMaintenance(home);
    const report = await store.check();
    const blobs = await checkBlobs(store, home.path('blobs'));
    const problems = [...report.problems, ...blobs.problems];
    await print(
      io.stdout,
      options.json
        ? `${JSON.stringify({ ...report, files: blobs.files, problems })}\n`
        : checkText(report, blobs.files, problems),
    );
    return problems.length ? 1 : 0;
  });
}

function checkText(report: CheckReport, files: number, problems: readonly string[]): string {
  const checked = [
    counted(report.devices, 'device', 'devices'),
    counted(report.entries, 'journal entry', 'journal entries'),
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
    if (pid !== null) await reloaded(home, pid);
    const revoked = revokeNow ? 'all earlier tokens are revoked; ' : '';
    const user = pid === null ? 'no daemon is running' : `the daemon (process ${pid}) uses it now`;
    const text = `new signing key; ${revoked}${user}\n`;
    await print(io.stdout, options.json ? `${JSON.stringify({ daemon: pid })}\n` : text);
    return 0;
  });
}

/** Milliseconds in which a daemon reads its keys again. */
const RELOAD_MS = 10_000;
const POLL_MS = 20;

/** Makes a daemon read its keys; resolves when it uses them. It then replaces its local token, which was signed with an earlier key. */
async function reloaded(home: Home, pid: number): Promise<void> {
  const before = await home.readSecret('localToken');
  process.kill(pid, 'SIGHUP');
  for (const deadline = performance.now() + RELOAD_MS; performance.now() < deadline; await setTimeout(POLL_MS))
    if ((await home.readSecret('localToken')) !== before) return;
  throw new StartRefused(
    1,
    `the new signing key is stored, but the daemon (process ${pid}) has not confirmed that it uses it`,
    'see why: devmgr daemon logs; a restart of the daemon reads the key as well',
  );
}

/** Opens a home that has a registry; refuses any other, because these programs create none. */
export async function existingHome(dir: string): Promise<Home> {
  await stat(join(dir, homeFiles.database)).catch(() => {
    throw new StartRefused(1, `there is no registry in ${dir}`, 'name the home of the daemon with --home');
  });
  return Home.open(dir);
}

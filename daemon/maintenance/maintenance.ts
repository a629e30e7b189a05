/** Programs for the registry of a home: check it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFiles } from '../../src/contract/local.ts';
import type { CheckOptions, ProgramIo, RegistryOptions } from '../../src/contract/programs.ts';
import { escapedLine } from '../base/escaped.ts';
import { StartRefused } from '../base/start-refused.ts';
import { checkSecrets } from '../home/belonging.ts';
import { secretsFrom } from '../home/given-settings.ts';
import { presentHeads } from '../home/head-file.ts';
import { Home } from '../home/home.ts';
import { Instance } from '../home/instance.ts';
import { filesTarget } from '../home/object-store-target.ts';
import { type StoreTarget, storeTarget } from '../home/store-target.ts';
import { print, reporting } from '../start/program-io.ts';
import { readImprint, storeMaintenance } from '../start/store-engine.ts';
import type { JournalReport, StoreMaintenance } from '../store/maintenance.ts';
import { type BlobReport, blobProblems } from './check-blobs.ts';
import type { RestoreFiles } from './folder-files.ts';
import { filesOf } from './registry-files.ts';

/** Checks storage, journal, counters and uploaded files. Exit code 1 if there are problems. */
export function check(options: CheckOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const { home, target } = await existingRegistry(options, io.env);
    const objectStore = filesTarget(options.files ?? null, io.env, true);
    if (target !== null) await checkInstance(target, home);
    const store = storeMaintenance(target, home);
    const heads = await presentHeads(home);
    // Before the journal, which takes long: an unusable object store is refused first, even if the registry has no files.
    const files = await filesOf(home, objectStore);
    const { unproven: _, ...report } = await store.check(heads.anchors);
    const blobs = await checkFiles(store, files);
    const problems = [...report.problems, ...heads.problems.map(text => `journal: ${text}`), ...blobProblems(blobs)];
    await print(
      io.stdout,
      options.json
        ? `${JSON.stringify({ ...report, files: blobs.files, problems })}\n`
        : checkText({ ...report, files: blobs.files, problems }),
    );
    if (!options.json) io.stderr.write(notCoveredText(report));
    return problems.length ? 1 : 0;
  });
}

/** Refuses the secrets of another registry. If only the seal does not fit, the check reports what was changed. */
async function checkInstance(target: StoreTarget, home: Home): Promise<void> {
  const imprint = await readImprint(target, home);
  const instance = (await Instance.existing(home))?.id;
  if (imprint?.head && imprint.instance !== null && instance !== undefined && instance !== imprint.instance)
    await checkSecrets(home, imprint);
}

async function checkFiles(store: StoreMaintenance, files: RestoreFiles): Promise<BlobReport> {
  const reader = await store.openReader();
  try {
    return await files.check(reader);
  } finally {
    files.close();
    await reader.close();
  }
}

interface Figures {
  readonly devices: number;
  readonly entries: number;
  readonly files: number;
}

/** Totals of a check or copy, for people. */
export const figuresOf = ({ devices, entries, files }: Figures): string =>
  [
    counted(devices, 'device', 'devices'),
    counted(entries, 'journal entry', 'journal entries'),
    counted(files, 'file', 'files'),
  ].join(', ');

interface CheckFigures extends Figures {
  readonly problems: readonly string[];
}

function checkText({ problems, ...figures }: CheckFigures): string {
  const checked = figuresOf(figures);
  if (problems.length === 0) return `OK: ${checked} checked\n`;
  return `${problems.map(escapedLine).join('\n')}\n${counted(problems.length, 'problem', 'problems')}; ${checked} checked\n`;
}

/** Facts that a verification could not compare; empty if none. */
export const notCoveredText = ({ notCovered = [] }: JournalReport): string =>
  notCovered.map(what => `not covered: ${what}\n`).join('');

/** A number of things, for people: "1 device", "5,000 devices". */
export const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** A home, and where its registry is: null if in the home. */
export interface ExistingRegistry {
  readonly home: Home;
  readonly target: StoreTarget | null;
}

/** Opens a home with its registry, which may be in a database; refuses any other, because these programs create none. */
export async function existingRegistry(options: RegistryOptions, env: ProgramIo['env']): Promise<ExistingRegistry> {
  const { home: dir } = options;
  const target = storeTarget(options.store ?? null, env);
  const secrets = secretsFrom(options.secrets ?? null, env);
  if (target === null)
    await stat(join(dir, homeFiles.database)).catch(() => {
      throw new StartRefused(1, `there is no registry in ${dir}`, 'name the home of the daemon with --home');
    });
  else await checkKeys(secrets ?? dir, secrets === null);
  return { home: await Home.open(dir, secrets), target };
}

/** A registry in a database has its keys elsewhere: without them, there is nothing to work with. */
export async function checkKeys(dir: string, isHome: boolean): Promise<void> {
  await stat(join(dir, homeFiles.journalKey)).catch(() => {
    const hint = isHome
      ? 'name the home of the daemon with --home, or the folder of its secrets with --secrets'
      : 'name the folder of the secrets with --secrets';
    throw new StartRefused(1, `the keys of the registry are not in ${dir}`, hint);
  });
}

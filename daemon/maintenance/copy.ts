/** Moves a registry to another engine, files included if asked for, and verifies what arrived. */

import type { CopyOptions, ProgramIo } from '../../src/contract/programs.ts';
import { escapedLine } from '../base/escaped.ts';
import { StartRefused } from '../base/start-refused.ts';
import { checkBelonging, presentImprint } from '../home/belonging.ts';
import { secretsFrom } from '../home/given-settings.ts';
import { presentHeads, type ReadHeads } from '../home/head-file.ts';
import { Home } from '../home/home.ts';
import { lockHome } from '../home/lock.ts';
import { filesTarget } from '../home/object-store-target.ts';
import { registryPlace } from '../home/store-target.ts';
import type { Blobs } from '../requests/blobs.ts';
import { openBlobs } from '../start/file-store.ts';
import { print, reporting } from '../start/program-io.ts';
import { type CopiedRegistry, copiedRegistry } from '../start/store-engine.ts';
import { type CopySource, type CopyTarget, copiedTables } from '../store/copy.ts';
import type { Imprint } from '../store/imprint.ts';
import { blobProblems } from './check-blobs.ts';
import { copyFiles } from './copy-files.ts';
import { type CopyProgress, transferRows } from './copy-rows.ts';
import type { RestoreFiles } from './folder-files.ts';
import { checkKeys, figuresOf } from './maintenance.ts';
import { progressOf } from './progress.ts';
import { filesOf } from './registry-files.ts';

interface Copy {
  readonly from: CopiedRegistry;
  readonly to: CopiedRegistry;
  /** How messages name the two. */
  readonly sourceName: string;
  readonly targetName: string;
  readonly heads: ReadHeads;
  readonly progress: CopyProgress;
  /** Where files are copied from and to; null if they are left in place. */
  readonly moved: { readonly from: Blobs; readonly to: Blobs } | null;
  /** The files of the copied registry. */
  readonly stored: RestoreFiles;
}

interface Report {
  readonly from: string;
  readonly to: string;
  /** Whether an interrupted copy was continued. */
  readonly resumed: boolean;
  readonly devices: number;
  readonly entries: number;
  readonly files: number;
}

/**
 * Copies all rows with their numbers and the journal as it is. The target must be empty, or an interrupted copy of the same registry, which
 * is continued. No daemon can use the target until the copy is verified.
 */
export function copy(options: CopyOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const places = [
      registryPlace('--from', options.from, options.home, io.env),
      registryPlace('--to', options.to, options.home, io.env),
    ] as const;
    if (JSON.stringify(places[0]) === JSON.stringify(places[1]))
      throw new StartRefused(2, '--from and --to name the same registry', 'name another one with --to');
    const secrets = secretsFrom(options.secrets ?? null, io.env);
    await checkKeys(secrets ?? options.home, secrets === null);
    const home = await Home.open(options.home, secrets);
    const lock = await lockHome(home);
    try {
      const figures = await copyLocked(home, places, options, io);
      await print(io.stdout, options.json ? `${JSON.stringify(figures)}\n` : textOf(figures));
      return 0;
    } finally {
      await lock.release();
    }
  });
}

async function copyLocked(
  home: Home,
  places: readonly [Parameters<typeof copiedRegistry>[0], Parameters<typeof copiedRegistry>[0]],
  options: CopyOptions,
  io: ProgramIo,
): Promise<Report> {
  const [from, to] = [copiedRegistry(places[0], home), copiedRegistry(places[1], home)];
  const read = () => from.imprint();
  // A file that someone has put back is checked with the rest of the source.
  const imprint = await ('file' in places[0] ? read() : presentImprint(home, read));
  if (imprint === null) throw new StartRefused(2, `there is no registry in ${options.from}`, 'name one with --from');
  await checkBelonging(home, imprint);
  const present = await to.imprint();
  checkTarget(present, imprint);
  const heads = await presentHeads(home);
  const targetName = present?.name ?? options.to;
  const sourceName = imprint.name;
  await checkSource({ from, sourceName, heads });
  // Before the target is created: an unusable object store is refused and leaves nothing behind.
  const [stored, moved] = [await filesOf(home, filesAt(options.filesTo, io)), await movedFiles(home, options, io)];
  const progress = progressOf(io, options.json);
  const parts = { from, to, sourceName, targetName, heads, progress, moved, stored };
  const source = await from.openSource();
  try {
    const target = await to.openTarget();
    try {
      return await transfer(parts, source, target, imprint);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
    stored.close();
  }
}

/** Identifies the state of the registry that is copied: an unchanged registry can continue an interrupted copy. */
const noteOf = ({ head }: Imprint): string => `${head?.id ?? 0}:${head?.mac ?? ''}`;

/** Refuses a database with something else in it, before anything opens it for writing. */
function checkTarget(target: Imprint | null, source: Imprint): void {
  if (target === null || target.copying === noteOf(source)) return;
  if (target.copying !== null)
    throw new StartRefused(
      2,
      `${target.name} is an unfinished copy of another registry, or of an earlier state of this one`,
      'empty it, or name another with --to',
    );
  if (target.head !== null) throw notEmpty(target.name);
}

const notEmpty = (name: string) =>
  new StartRefused(
    2,
    `${name} is not empty: it has a registry`,
    'name an empty database, or a file that does not exist',
  );

async function checkSource({ from, sourceName, heads }: Pick<Copy, 'from' | 'sourceName' | 'heads'>): Promise<void> {
  const { problems } = await from.maintenance.check(heads.anchors);
  const [problem] = [...problems, ...heads.problems];
  if (problem)
    throw new StartRefused(
      1,
      `${sourceName} is damaged: ${problem}`,
      'nothing was copied; devmgr daemon check lists all problems',
    );
}

async function transfer(parts: Copy, source: CopySource, target: CopyTarget, imprint: Imprint): Promise<Report> {
  const { targetName, sourceName, progress } = parts;
  const resumed = (await target.copying()) !== null;
  if (!resumed) {
    for (const table of copiedTables) if ((await target.last(table)) > 0) throw notEmpty(targetName);
    await target.begin(noteOf(imprint));
  }
  const differing = await transferRows(source, target, progress);
  await copyStoredFiles(parts);
  const { problems, devices, entries, files } = await checkCopy(parts);
  progress('', 0, 0);
  const [problem] = [...differing.map(table => `the rows of ${table} are not those of the source`), ...problems];
  if (problem) throw notVerified(targetName, problem);
  await target.finish();
  return { from: sourceName, to: (await parts.to.imprint())!.name, resumed, devices, entries, files };
}

const notVerified = (name: string, problem: string) =>
  new StartRefused(
    1,
    `the copy in ${name} is not verified: ${escapedLine(problem)}`,
    'no daemon can use it; empty it, and run the command again',
  );

/** As `daemon check` does: storage, counters, journal and files. */
async function checkCopy({ to, heads, stored }: Copy) {
  const report = await to.maintenance.check(heads.anchors);
  const reader = await to.maintenance.openReader();
  try {
    const blobs = await stored.check(reader);
    const problems = [...report.problems, ...blobProblems(blobs)];
    return { problems, devices: report.devices, entries: report.entries, files: blobs.files };
  } finally {
    await reader.close();
  }
}

const filesAt = (place: string | null | undefined, { env }: ProgramIo) => filesTarget(place ?? null, env, true);

/** Only if a flag requests it: without one, the files are left in place. */
async function movedFiles(home: Home, { filesFrom, filesTo }: CopyOptions, io: ProgramIo): Promise<Copy['moved']> {
  if ((filesFrom ?? null) === null && (filesTo ?? null) === null) return null;
  const open = (place: string | null | undefined) =>
    openBlobs(filesAt(place, io), { folder: home.path('blobs'), hasOthers: false }, () => {});
  return { from: await open(filesFrom), to: await open(filesTo) };
}

async function copyStoredFiles({ from, moved, progress }: Copy): Promise<void> {
  if (moved === null) return;
  const reader = await from.maintenance.openReader();
  try {
    await copyFiles(reader, moved.from, moved.to, progress);
  } finally {
    await reader.close();
  }
}

function textOf({ from, to, resumed, devices, entries, files }: Report): string {
  return `${resumed ? 'completed the copy of' : 'copied'} ${from} to ${to}
verified: ${figuresOf({ devices, entries, files })}
`;
}

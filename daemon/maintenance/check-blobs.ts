import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { backupIds, versionIds } from '../../src/contract/ids.ts';
import { platformNames } from '../../src/contract/values.ts';
import { isBlobName } from '../requests/blobs.ts';
import type { Reader } from '../store/store.ts';

/** A file that a record refers to. */
export interface RecordedFile {
  /** Id of the record. */
  readonly id: string;
  readonly blob: string;
  readonly sha256: string;
  /** Bytes. */
  readonly fileSize: number;
}

/** The result of comparing the stored files with their records: the ids of the records whose files are missing or damaged. */
export interface BlobReport {
  readonly files: number;
  readonly missing: readonly string[];
  readonly damaged: readonly string[];
}

/** SHA-256 of a stored file in lower-case hex; null if it is missing, empty if it is not a file. */
type FindDigest = (blob: string) => Promise<string | null>;

/** Compares the digest of every file that a record refers to. */
export async function checkBlobs(reader: Reader, digestOf: FindDigest): Promise<BlobReport> {
  const missing: string[] = [];
  const damaged: string[] = [];
  let files = 0;
  for await (const { id, blob, sha256 } of recordedFiles(reader)) {
    files++;
    // A record of a hostile backup could name any file of the machine.
    const digest = isBlobName(blob) ? await digestOf(blob) : '';
    if (digest === null) missing.push(id);
    else if (digest !== sha256) damaged.push(id);
  }
  return { files, missing, damaged };
}

/** A line for each file that is missing or damaged. */
export const blobProblems = ({ missing, damaged }: BlobReport): string[] => [
  ...damaged.map(id => `files: the file of ${id} is damaged`),
  ...missing.map(id => `files: the file of ${id} is missing`),
];

/** Every file that a record refers to. */
export async function* recordedFiles(reader: Reader): AsyncGenerator<RecordedFile> {
  for (const platform of platformNames)
    for (const app of await reader.appsOf(platform)) yield { id: versionIds.format(app.number), ...app };
  for (let number = 1; ; number++) {
    const backup = await reader.backup(number);
    if (!backup) return;
    yield { id: backupIds.format(number), ...backup };
  }
}

/** Reads the file in the first of the folders that has it. */
export const digestInFolders =
  (folders: readonly string[]): FindDigest =>
  async blob => {
    for (const folder of folders) {
      const digest = await fileDigest(join(folder, blob));
      if (digest !== null) return digest;
    }
    return null;
  };

/**
 * SHA-256 in lower-case hex; null if the file does not exist. Empty if it is not a plain file: a pipe or a device may have no end,
 * and a copy of the stored files can contain a link to one.
 */
async function fileDigest(file: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    if (!(await lstat(file)).isFile()) return '';
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return hash.digest('hex');
}

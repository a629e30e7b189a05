import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { backupIds, versionIds } from '../../src/contract/ids.ts';
import { platformNames } from '../../src/contract/values.ts';
import type { StoreMaintenance } from '../store/maintenance.ts';
import type { Reader } from '../store/store.ts';

interface RecordedFile {
  /** Id of the record. */
  readonly id: string;
  readonly blob: string;
  readonly sha256: string;
}

/** Reads every file that a record refers to, in the folder `blobs`, and compares its digest. */
export async function checkBlobs(
  store: StoreMaintenance,
  blobs: string,
): Promise<{ readonly files: number; readonly problems: readonly string[] }> {
  const reader = await store.openReader();
  const problems: string[] = [];
  let files = 0;
  try {
    for await (const { id, blob, sha256 } of recordedFiles(reader)) {
      files++;
      const digest = await digestOf(join(blobs, blob));
      if (digest === null) problems.push(`files: the file of ${id} is missing`);
      else if (digest !== sha256) problems.push(`files: the file of ${id} is damaged`);
    }
  } finally {
    await reader.close();
  }
  return { files, problems };
}

async function* recordedFiles(reader: Reader): AsyncGenerator<RecordedFile> {
  for (const platform of platformNames)
    for (const app of await reader.appsOf(platform)) yield { id: versionIds.format(app.number), ...app };
  for (let number = 1; ; number++) {
    const backup = await reader.backup(number);
    if (!backup) return;
    yield { id: backupIds.format(number), ...backup };
  }
}

/** SHA-256 in lower-case hex; null if there is no such file. */
async function digestOf(file: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return hash.digest('hex');
}

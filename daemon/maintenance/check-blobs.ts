import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { platformNames } from '../../src/contract/apps.ts';
import { backupIds, versionIds } from '../../src/contract/ids.ts';
import type { Home } from '../home/home.ts';
import { openSqliteReader, type SqliteReader } from '../store/sqlite/reader.ts';

interface Kept {
  readonly name: string;
  readonly blob: string;
  readonly sha256: string;
}

/** Reads every file that a record refers to and compares its digest. */
export async function checkBlobs(
  home: Home,
  journalKey: Uint8Array,
): Promise<{ readonly files: number; readonly problems: readonly string[] }> {
  const reader = openSqliteReader({ file: home.path('database'), journalKey });
  const problems: string[] = [];
  let files = 0;
  try {
    for await (const kept of keptFiles(reader)) {
      files++;
      const digest = await digestOf(join(home.path('blobs'), kept.blob));
      if (digest === null) problems.push(`files: that of ${kept.name} is missing`);
      else if (digest !== kept.sha256) problems.push(`files: that of ${kept.name} is damaged`);
    }
  } finally {
    reader.close();
  }
  return { files, problems };
}

async function* keptFiles(reader: SqliteReader): AsyncGenerator<Kept> {
  for (const platform of platformNames)
    for (const app of await reader.appsOf(platform)) yield { name: versionIds.format(app.number), ...app };
  for (let number = 1; ; number++) {
    const backup = await reader.backup(number);
    if (!backup) return;
    yield { name: backupIds.format(number), ...backup };
  }
}

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

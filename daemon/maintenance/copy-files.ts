/** Copies the files of a registry to another place, under the same names. */
import { Readable } from 'node:stream';
import { StartRefused } from '../base/start-refused.ts';
import type { Blobs } from '../requests/blobs.ts';
import type { Reader } from '../store/store.ts';
import { type RecordedFile, recordedFiles } from './check-blobs.ts';
import type { CopyProgress } from './copy-rows.ts';

/**
 * Copies every file that a record refers to, unless the target has it with the same digest. Refuses with `StartRefused` if a file of
 * the source is missing or damaged. Returns the number of files.
 */
export async function copyFiles(reader: Reader, from: Blobs, to: Blobs, progress: CopyProgress): Promise<number> {
  let files = 0;
  for await (const file of recordedFiles(reader)) {
    if (!(await has(to, file))) await copyFile(file, from, to);
    files++;
    progress('files', files, files);
  }
  return files;
}

async function has(blobs: Blobs, { blob, fileSize, sha256 }: RecordedFile): Promise<boolean> {
  try {
    await (await blobs.read(blob, fileSize, sha256)).close();
    return true;
  } catch {
    return false;
  }
}

async function copyFile({ id, blob, fileSize, sha256 }: RecordedFile, from: Blobs, to: Blobs): Promise<void> {
  const stored = await from.read(blob, fileSize, sha256).catch(error => {
    throw new StartRefused(
      1,
      `the file of ${id} cannot be copied: ${error.message}`,
      'devmgr daemon check lists such files',
    );
  });
  // A range of no bytes cannot be asked for.
  const content = fileSize === 0 ? Readable.from([]) : stored.stream(0, fileSize - 1);
  const staged = await to.receive(content, fileSize, undefined, blob);
  if (staged.sha256 !== sha256) {
    await staged.discard();
    throw new StartRefused(1, `the file of ${id} was damaged on its way`, 'run the command again');
  }
  await staged.persist();
}

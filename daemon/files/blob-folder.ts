/** The stored files in a folder of the home. */
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { syncFolder } from '../base/files.ts';
import { BlobError, FileElsewhere, fromFileSystem } from '../requests/blob-error.ts';
import {
  type Blobs,
  checkBlobName,
  type Follower,
  isBlobName,
  newBlobName,
  type StagedBlob,
  type StoredBlob,
} from '../requests/blobs.ts';
import { FileBlob } from './file-blob.ts';
import { HashingWriter } from './hashing-writer.ts';
import { KnownDigests } from './known-digests.ts';

/** How the files of a registry are stored. */
interface Options {
  /** Takes a line for the log. */
  readonly notice?: (message: string) => void;
  /** Whether other daemons may use the registry, each with a folder of its own: then a file that is missing is at one of them. */
  readonly hasOthers?: boolean;
}

const SWEEP_BATCH = 500;

/** Opens the folder and creates it if it does not exist, for this user only. */
export async function openBlobFolder(dir: string, options: Options = {}): Promise<BlobFolder> {
  const blobs = new BlobFolder(dir, options);
  await mkdir(join(dir, 'incoming'), { recursive: true, mode: 0o700 });
  return blobs;
}

/** The files of one registry, in one folder that only one daemon writes. */
class BlobFolder implements Blobs {
  readonly shared = false;
  readonly #dir: string;
  readonly #incoming: string;
  readonly #notice: (message: string) => void;
  readonly #digests = new KnownDigests();
  readonly #hasOthers: boolean;

  constructor(dir: string, { notice = () => {}, hasOthers = false }: Options) {
    this.#hasOthers = hasOthers;
    this.#dir = dir;
    this.#incoming = join(dir, 'incoming');
    this.#notice = notice;
  }

  async receive(
    content: Readable,
    maxBytes: number,
    follower?: Follower,
    name: string = newBlobName(),
  ): Promise<StagedBlob> {
    checkBlobName(name);
    const path = join(this.#incoming, name);
    const file = await open(path, 'wx', 0o600).catch(error => {
      content.destroy();
      throw fromFileSystem(error);
    });
    const writer = new HashingWriter(file, maxBytes);
    const target = this.#path(name);
    return writer.receive(content, follower, {
      persist: async () => {
        try {
          await file.sync();
          await file.close();
          await rename(path, target);
          await syncFolder(dirname(target));
          return name;
        } catch (error) {
          await this.#remove(target);
          throw fromFileSystem(error);
        }
      },
      discard: async () => {
        await file.close().catch(() => {});
        await this.#remove(path);
      },
    });
  }

  /**
   * The whole file is read unless it is known from an earlier call and has not been written since. Rejects with `FileElsewhere` instead of
   * `missing` if other daemons have files.
   */
  async read(name: string, size: number, sha256: string): Promise<StoredBlob> {
    const file = await open(this.#path(name), 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw this.#hasOthers ? new FileElsewhere() : new BlobError('missing', `file ${name} is missing`);
    });
    try {
      const found = await file.stat({ bigint: true });
      if (found.size !== BigInt(size))
        throw new BlobError('damaged', `file ${name} has ${found.size} bytes instead of ${size}`);
      const blob = new FileBlob(file, size);
      const state = [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
      if ((await this.#digests.of(name, state, () => blob.digest())) !== sha256)
        throw new BlobError('damaged', `file ${name} has another SHA-256`);
      return blob;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  remove(name: string): Promise<void> {
    return this.#remove(this.#path(name));
  }

  async space(): Promise<{ readonly free: number; readonly size: number }> {
    const { bavail, blocks, bsize } = await statfs(this.#dir);
    return { free: bavail * bsize, size: blocks * bsize };
  }

  async stored(): Promise<number> {
    const names = (await readdir(this.#dir)).filter(name => isBlobName(name));
    let sum = 0;
    for (let i = 0; i < names.length; i += SWEEP_BATCH) {
      const batch = names.slice(i, i + SWEEP_BATCH).map(name => stat(this.#path(name)).catch(() => null));
      for (const found of await Promise.all(batch)) sum += found?.size ?? 0;
    }
    return sum;
  }

  /**
   * Removes the remains of an interrupted run: files that are not in `known`. Call it before the first `receive`, because a
   * file that is stored but not recorded yet would be removed too.
   */
  async sweep(known: (names: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    let strays = await this.discardAll();
    const names = (await readdir(this.#dir)).filter(isBlobName);
    for (let i = 0; i < names.length; i += SWEEP_BATCH) {
      const batch = names.slice(i, i + SWEEP_BATCH);
      const recorded = await known(batch);
      for (const name of batch.filter(name => !recorded.has(name))) {
        await this.remove(name);
        strays++;
      }
    }
    if (strays > 0) this.#notice(`removed ${strays} unfinished upload${strays === 1 ? '' : 's'} of an earlier run`);
  }

  /** Removes all staged files and returns their number. Call it only while none is to be stored. */
  async discardAll(): Promise<number> {
    const names = await readdir(this.#incoming);
    for (const name of names) await rm(join(this.#incoming, name), { recursive: true, force: true });
    return names.length;
  }

  #path(name: string): string {
    checkBlobName(name);
    return join(this.#dir, name);
  }

  async #remove(path: string): Promise<void> {
    try {
      await rm(path, { force: true });
    } catch (error) {
      this.#notice(`could not remove ${path}: ${(error as Error).message}; the next start tries again`);
    }
  }
}

/** Part of the names under which the database and the files of the registry before a restore are kept. */
export const BEFORE_RESTORE = '.before-restore-';

/** The name under which a restore keeps what it replaces. A later restore looks there for files. */
export const beforeRestoreName = (path: string): string =>
  `${path}${BEFORE_RESTORE}${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;

/** Moves all stored files to such a name, because a new registry would take them for strays. False if there are none. */
export async function keepEarlierBlobs(dir: string): Promise<boolean> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  if (!entries.some(entry => entry.isFile())) return false;
  await rename(dir, beforeRestoreName(dir));
  return true;
}

/** Files of any size that records of the store refer to. A file is there whole or not at all; its name is never a client's. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BlobError, fromFileSystem } from './blob-error.ts';
import { Sink } from './sink.ts';
import { KeptBlob } from './stored-blob.ts';

/** A file that has arrived and is not kept yet. */
export interface StagedBlob {
  readonly size: number;
  /** In lower-case hex. */
  readonly sha256: string;
  /** Puts it on the disk for good and tells its name. Once; a `BlobError` where the disk is full. */
  keep(): Promise<string>;
  /** Removes it unless it has been kept. Idempotent, does not fail. */
  discard(): Promise<void>;
}

export interface BlobOptions {
  /** Takes a line for the log. */
  readonly notice?: (message: string) => void;
}

const nameShape = /^[0-9a-f]{32}$/;
const SWEEP_AT_ONCE = 500;

/** Makes the folder where there is none; for this user alone. */
export async function openBlobs(dir: string, options: BlobOptions = {}): Promise<Blobs> {
  const blobs = new Blobs(dir, options);
  await mkdir(join(dir, 'incoming'), { recursive: true, mode: 0o700 });
  return blobs;
}

export class Blobs {
  readonly #dir: string;
  readonly #incoming: string;
  readonly #notice: (message: string) => void;

  constructor(dir: string, { notice = () => {} }: BlobOptions) {
    this.#dir = dir;
    this.#incoming = join(dir, 'incoming');
    this.#notice = notice;
  }

  /**
   * Takes a stream to its end, in constant memory; the buffers it yields are given away and no longer usable. Where that
   * fails nothing of it stays, and `content` is destroyed.
   */
  async receive(content: Readable, maxBytes: number): Promise<StagedBlob> {
    const name = randomBytes(16).toString('hex');
    const path = join(this.#incoming, name);
    const file = await open(path, 'wx', 0o600).catch(error => {
      content.destroy();
      throw fromFileSystem(error);
    });
    const sink = new Sink(file, maxBytes);
    const discard = async () => {
      await file.close().catch(() => {});
      await this.#remove(path);
    };
    try {
      await pipeline(content, sink);
    } catch (error) {
      await discard();
      throw error;
    }
    const keep = async () => {
      await this.#keep(file, path, name);
      return name;
    };
    return { size: sink.size, sha256: sink.sha256(), keep, discard };
  }

  /** Opens a kept file of the size it was kept with. Refuses with `BlobError`: `missing`, `damaged`. The caller closes it. */
  async read(name: string, size: number): Promise<KeptBlob> {
    const file = await open(this.#path(name), 'r').catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? new BlobError('missing', `file ${name} is missing`) : error;
    });
    const found = await file.stat();
    if (found.size === size) return new KeptBlob(file, name, size);
    await file.close();
    throw new BlobError('damaged', `file ${name} has ${found.size} bytes in place of ${size}`);
  }

  /** Removes a kept file; one that is gone already is good. */
  async remove(name: string): Promise<void> {
    await this.#remove(this.#path(name));
  }

  /** Bytes that can still be written. */
  async free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#dir);
    return bavail * bsize;
  }

  /**
   * Removes what an interrupted run has left: files that no record knows. Only before the first `receive`: a file that is
   * kept but not yet recorded would be taken for a stray.
   */
  async sweep(known: (names: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    let strays = await this.discardAll();
    const names = (await readdir(this.#dir)).filter(name => nameShape.test(name));
    for (let i = 0; i < names.length; i += SWEEP_AT_ONCE) {
      const some = names.slice(i, i + SWEEP_AT_ONCE);
      const good = await known(some);
      for (const name of some.filter(name => !good.has(name))) {
        await this.remove(name);
        strays++;
      }
    }
    if (strays > 0) this.#notice(`removed ${strays} unfinished upload${strays === 1 ? '' : 's'} of an earlier run`);
  }

  /** Removes what has arrived and was not kept; how many files that were. Only while no `receive` is to be kept. */
  async discardAll(): Promise<number> {
    const names = await readdir(this.#incoming);
    for (const name of names) await rm(join(this.#incoming, name), { recursive: true, force: true });
    return names.length;
  }

  #path(name: string): string {
    if (!nameShape.test(name)) throw new Error('not the name of a blob');
    return join(this.#dir, name);
  }

  async #keep(file: FileHandle, path: string, name: string): Promise<void> {
    try {
      await file.sync();
      await file.close();
      await rename(path, this.#path(name));
      await syncFolder(this.#dir);
    } catch (error) {
      await this.remove(name);
      throw fromFileSystem(error);
    }
  }

  async #remove(path: string): Promise<void> {
    try {
      await rm(path, { force: true });
    } catch (error) {
      this.#notice(`${path} could not be removed: ${(error as Error).message}; the next start tries again`);
    }
  }
}

/** The new name is on the disk only when the folder is. Windows has no such call, and needs none. */
async function syncFolder(dir: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

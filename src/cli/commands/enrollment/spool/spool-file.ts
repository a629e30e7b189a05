/** A spool file that this process appends to. A line counts when the disk has it. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  fsync as fsyncWithCallback,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  write as writeWithCallback,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { Fault, failure, systemCode, systemWords, usage } from '../../../fault.ts';
import { AppendQueue } from '../../../jobs/append-queue.ts';
import { lockRun } from '../../../jobs/run-lock.ts';
import { cutTail } from '../../../jobs/torn-tail.ts';
import type { FileLock } from '../../../settings/file-lock.ts';
import { demandOwnFile, removeIfPossible, writeWhole } from '../../../settings/files.ts';
import { safeJson } from '../../../terminal/text.ts';
import { headerLine, type SpoolEnding, type SpoolEntry, type SpoolHeader, type SpoolLine } from './lines.ts';
import { mostKeys, readIndex, type SpoolIndex, type SpoolItem, tooMany } from './read.ts';

const fsync = promisify(fsyncWithCallback);
const write = promisify(writeWithCallback);

/** The file cannot be written now. */
export class Unwritable extends Fault {
  constructor(message: string, hint: string) {
    super('failure', message, hint);
  }
}

/** The keys of a file that wait. One process at a time has a file. */
export class SpoolFile {
  readonly path: string;
  readonly header: SpoolHeader;
  readonly #queue = new AppendQueue(text => this.#write(text));
  /** The notice of a last line that was incomplete and is dropped; null if it was complete. */
  readonly tornNotice: string | null;
  readonly #fd: number;
  readonly #lock: FileLock;
  readonly #items: Map<string, SpoolItem>;
  /** Waiting keys by serial number. */
  readonly #waiting = new Map<string, SpoolItem>();
  /** Keys whose binding this run has begun: they wait only for a later run. */
  readonly #begun = new Set<SpoolItem>();
  /** Bytes that the disk has. */
  #size: number;

  private constructor(path: string, fd: number, lock: FileLock, index: SpoolIndex) {
    this.path = path;
    this.header = index.header;
    this.#fd = fd;
    this.#lock = lock;
    this.#items = index.items;
    this.#size = index.size;
    const copy = index.isTorn ? cutTail(path, bytesAfter(fd, index.size), index.size) : null;
    this.tornNotice =
      copy && `The last line of ${path} was incomplete: it was removed. Its key was not spooled. A copy is in ${copy}`;
    for (const item of index.items.values())
      if (item.delivered === null) this.#waiting.set(item.entry.registration.serialNumber, item);
  }

  /**
   * Opens a file for appending. A file that does not exist is created with the header, if one is given. Throws a fault if another process
   * has it.
   */
  static open(path: string, header: SpoolHeader | null): SpoolFile {
    checkOwner(path, header !== null);
    const lock = lockRun({ file: path, hint: 'wait until it ends, or name another file' });
    try {
      if (header !== null && !statSync(path, { throwIfNoEntry: false })?.size) create(path, header);
      const fd = openSync(path, 'r+');
      try {
        return new SpoolFile(path, fd, lock, readIndex(path, fd));
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    } catch (error) {
      lock.release();
      throw error instanceof Fault ? error : unusable(path, error);
    }
  }

  /** Number of keys that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** The keys that wait, in the order in which they were plugged in. */
  *items(): Generator<SpoolItem> {
    for (const item of this.#items.values()) if (item.delivered === null && !this.#begun.has(item)) yield item;
  }

  /** The key that waits with this serial number; null if none does. */
  waitingKey(serialNumber: string): SpoolItem | null {
    return this.#waiting.get(serialNumber) ?? null;
  }

  /**
   * Returns when the disk has the key. `isSent`: the registry may have received its registration. Throws a fault if it cannot be written.
   */
  async add(entry: SpoolEntry, isSent: boolean): Promise<void> {
    if (this.#items.size >= mostKeys) throw tooMany(this.path);
    const { id, at } = entry;
    const { serialNumber } = entry.registration;
    const sent: SpoolLine[] = isSent ? [{ sent: id, at }] : [];
    await this.#append({ key: entry }, ...sent);
    const sentAt = isSent ? at : null;
    const item: SpoolItem = { entry, sentAt, delivered: null };
    this.#items.set(id, item);
    this.#waiting.set(serialNumber, item);
  }

  /** A key whose registration is sent next. A run that finds it unfinished delivers it, this one only after `waits`. */
  async begin(entry: SpoolEntry): Promise<SpoolItem> {
    if (this.#items.size >= mostKeys) throw tooMany(this.path);
    const { id, at } = entry;
    await this.#append({ key: entry }, { sent: id, at });
    const item: SpoolItem = { entry, sentAt: at, delivered: null };
    this.#items.set(id, item);
    this.#begun.add(item);
    return item;
  }

  /** The binding of a key that was begun is over. */
  async end(item: SpoolItem): Promise<void> {
    const { id } = item.entry;
    await this.#append({ ended: id, at: new Date().toISOString() });
    this.#items.delete(id);
    this.#begun.delete(item);
  }

  /** The registry could not take a key that was begun. */
  waits(item: SpoolItem): void {
    this.#begun.delete(item);
    this.#waiting.set(item.entry.registration.serialNumber, item);
  }

  /** This run continues a key that waits. */
  resume(item: SpoolItem): void {
    this.#waiting.delete(item.entry.registration.serialNumber);
    this.#begun.add(item);
  }

  /** To be called before the registration is sent. */
  async sent(item: SpoolItem): Promise<void> {
    const at = new Date().toISOString();
    await this.#append({ sent: item.entry.id, at });
    item.sentAt ??= at;
  }

  /** The delivery of the key has ended: it no longer waits, unless that cannot be written. */
  async done(item: SpoolItem, delivered: SpoolEnding): Promise<void> {
    const { at, result, deviceId, message } = delivered;
    const { serialNumber } = item.entry.registration;
    const isCurrent = this.#waiting.get(serialNumber) === item;
    item.delivered = delivered;
    if (isCurrent) this.#waiting.delete(serialNumber);
    try {
      await this.#append({ done: item.entry.id, at, result, deviceId, message });
    } catch (error) {
      item.delivered = null;
      if (isCurrent) this.#waiting.set(serialNumber, item);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#queue.settled();
    closeSync(this.#fd);
    this.#lock.release();
  }

  /** Closes the file, and removes it if it has no key that is unfinished. */
  async closeOrRemove(): Promise<void> {
    await this.#queue.settled();
    if ([...this.#items.values()].every(({ delivered }) => delivered !== null)) removeIfPossible(this.path);
    await this.close();
  }

  /** Appends lines. A write that fails leaves nothing. */
  #append(...lines: readonly SpoolLine[]): Promise<void> {
    return this.#queue.append(lines.map(line => `${safeJson(line)}\n`).join(''));
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const offset = this.#size;
    try {
      this.#demandSameFile();
      ftruncateSync(this.#fd, offset);
      for (let done = 0; done < bytes.length; )
        done += (await write(this.#fd, bytes, done, bytes.length - done, offset + done)).bytesWritten;
      await fsync(this.#fd);
    } catch (error) {
      this.#dropTail();
      throw error instanceof Fault
        ? error
        : new Unwritable(`cannot write ${this.path}: ${systemWords(error)}`, 'free space on the disk');
    }
    this.#size += bytes.length;
  }

  /** Lines that are written to a file that was removed are lost when the process ends. */
  #demandSameFile(): void {
    const now = statSync(this.path, { throwIfNoEntry: false });
    if (now?.ino === fstatSync(this.#fd).ino) return;
    throw failure(`${this.path} was removed or replaced`, 'start the command again');
  }

  #dropTail(): void {
    try {
      ftruncateSync(this.#fd, this.#size);
    } catch {
      // The next write, or the next run, drops it.
    }
  }
}

function bytesAfter(fd: number, offset: number): Buffer {
  const bytes = Buffer.alloc(fstatSync(fd).size - offset);
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, offset));
}

/** Reads the index of a file as it is on the disk, without a lock. */
export function readSpool(path: string): SpoolIndex {
  checkOwner(path, false);
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    throw unusable(path, error);
  }
  try {
    return readIndex(path, fd);
  } finally {
    closeSync(fd);
  }
}

/** A file of another user has keys that this user has not plugged in. Opening a pipe would wait for its writer. */
function checkOwner(path: string, mayBeAbsent: boolean): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) {
    if (mayBeAbsent) return;
    throw usage(`${path} does not exist`, 'name a file that enroll --spool has written');
  }
  if (!stat.isFile()) throw usage(`${path} is not a file`, 'name another file');
  demandOwnFile(path, 'run the command as that user');
}

/** The file has its name only with its whole header on the disk. */
function create(path: string, header: SpoolHeader): void {
  writeWhole(path, `${safeJson(headerLine(header))}\n`, { durable: true, hint: 'name another file with --spool' });
  try {
    const folder = openSync(dirname(path), constants.O_RDONLY);
    fsyncSync(folder);
    closeSync(folder);
  } catch (error) {
    // Windows does not open folders.
    if (process.platform !== 'win32') throw error;
  }
}

function unusable(path: string, error: unknown): Fault {
  if (systemCode(error) === null) throw error;
  return usage(`${path} cannot be used: ${systemWords(error)}`, 'name another file');
}

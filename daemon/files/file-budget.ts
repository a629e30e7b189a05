/** How much clients may store in files: in total, of the disk, and each user in a day. */

import { ApiError, Code } from '../../src/contract/codes.ts';
import type { FileBounds } from '../home/bounds.ts';
import { MemoryCounters } from '../store/memory/counters.ts';
import type { Counters } from '../store/short-lived.ts';
import type { Store } from '../store/store.ts';
import { DailyUploads, type Reservation } from './daily-uploads.ts';

/** Facts about the disk for the budget. */
interface Disk {
  /** Bytes of the stored files. Called once, unless nodes share the files. */
  stored(): Promise<number>;
  /** Bytes that can still be written, and the size of the disk. */
  space(): Promise<{ readonly free: number; readonly size: number }>;
}

/** A disk, and whether other nodes store files on it. */
type SharedDisk = Disk & { readonly shared: boolean };

/** An upload that was announced. */
export interface Admission {
  /** Bytes that the file may have: fewer than the operation allows if the store or the day has no room for more. */
  readonly maxBytes: number;
  /** The refusal of a file that has more bytes. */
  tooLarge(): ApiError;
  /** Takes the function that returns how many bytes have arrived. */
  follow(arrived: () => number): void;
  /** The file is stored and has this many bytes. */
  keep(bytes: number): void;
  /** Ends the upload. What it has not kept can be used by others. Idempotent. */
  end(): void;
}

/** The budget of a daemon. Nodes share the days of users; if they share the files too, their sum is that of the records. */
export function fileBudget(
  bounds: FileBounds,
  disk: SharedDisk,
  { shortLived }: Pick<Store, 'shortLived'>,
): FileBudget {
  if (!shortLived) return new FileBudget(bounds, disk);
  const { counters } = shortLived;
  const stored = disk.shared ? () => counters.storedBytes() : () => disk.stored();
  return new FileBudget(bounds, { stored, space: () => disk.space() }, { counters, sumsUp: disk.shared });
}

/** How a budget counts. */
interface Options {
  /** Counters of the bytes of a user on a day; in memory if absent. */
  readonly counters?: Counters;
  /** Whether `stored` of the disk is asked again and again, because others store files as well. */
  readonly sumsUp?: boolean;
}

/** The bounds of all uploads of a daemon. */
export class FileBudget {
  readonly #bounds: FileBounds;
  readonly #disk: Disk;
  readonly #days: DailyUploads | null;
  readonly #sumsUp: boolean;
  /** Uploads that have not ended: the bytes each may still write. */
  readonly #running = new Set<() => number>();
  #stored: Promise<number> | null = null;
  /** Bytes kept since `#stored` was counted. */
  #added = 0;

  constructor(bounds: FileBounds, disk: Disk, { counters = new MemoryCounters(), sumsUp = false }: Options = {}) {
    this.#bounds = bounds;
    this.#disk = disk;
    this.#days = bounds.daily && new DailyUploads(bounds.daily, counters);
    this.#sumsUp = sumsUp;
  }

  /**
   * Admits an upload of `expected` bytes, 0 if that is unknown. Refuses with 429 if the user's day is used up, with 4002 if the
   * store has no room.
   */
  async admit(user: string, maxBytes: number, expected: number): Promise<Admission> {
    const room = await this.#room();
    // From here on nothing waits until the upload is among the running ones, so that uploads at the same time see each other.
    const left = Math.floor(room - [...this.#running].reduce((sum, stillToCome) => sum + stillToCome(), 0));
    if (left <= 0 || expected > left) throw diskFull();
    const upload = new AdmittedUpload(Math.min(expected > 0 ? expected : maxBytes, maxBytes, left));
    this.#running.add(upload.stillToCome);
    try {
      upload.reserved = (await this.#days?.reserve(user, upload.cap, Math.max(1, expected))) ?? null;
    } catch (error) {
      this.#running.delete(upload.stillToCome);
      throw error;
    }
    return this.#admission(upload, maxBytes);
  }

  #admission(upload: AdmittedUpload, maxBytes: number): Admission {
    return {
      maxBytes: upload.maxBytes,
      tooLarge: () => {
        const { reserved, cap } = upload;
        if (reserved && reserved.bytes < cap) return reserved.usedUp();
        return cap === maxBytes
          ? new ApiError(Code.uploadFailed, `the file is larger than ${maxBytes} bytes`)
          : diskFull();
      },
      follow: arrived => {
        upload.arrived = arrived;
      },
      keep: bytes => {
        upload.kept = bytes;
        this.#added += bytes;
      },
      end: () => {
        if (this.#running.delete(upload.stillToCome)) upload.reserved?.end(upload.kept);
      },
    };
  }

  /** Bytes that all uploads together may still store. */
  async #room(): Promise<number> {
    const { total, reserve } = this.#bounds;
    const { free, size } = await this.#disk.space();
    const ofDisk = free - reserve(size);
    return total === null ? ofDisk : Math.min(ofDisk, total - (await this.#storedNow()));
  }

  /** Counted before the first upload is admitted, and again for each one if others store files. A count that fails is repeated. */
  async #storedNow(): Promise<number> {
    if (this.#sumsUp) return this.#disk.stored();
    this.#stored ??= this.#disk.stored().catch(error => {
      this.#stored = null;
      throw error;
    });
    return (await this.#stored) + this.#added;
  }
}

/** An upload that was admitted. */
class AdmittedUpload {
  /** Bytes that the file may have by all bounds but the day of the user. */
  readonly cap: number;
  reserved: Reservation | null = null;
  kept: number | null = null;
  arrived = (): number => 0;
  readonly stillToCome = (): number => Math.max(0, this.maxBytes - this.arrived());

  constructor(cap: number) {
    this.cap = cap;
  }

  get maxBytes(): number {
    return Math.min(this.cap, this.reserved?.bytes ?? this.cap);
  }
}

/** The refusal of a file for which the store has no room. */
export const diskFull = (): ApiError =>
  new ApiError(Code.uploadFailed, 'the disk of the service is full; nothing was stored');

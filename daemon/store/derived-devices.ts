import { deviceIds } from '../../src/contract/ids.ts';
import type { DeviceStatus } from '../../src/contract/values.ts';
import { type CodedDevice, codeDigest, ownerDigest, proofDigest, tagsDigest } from '../domain/digest.ts';
import type { EntryType } from '../domain/journal.ts';

const statuses: readonly DeviceStatus[] = ['INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED'];
/** The state after an entry of the type. Types that are not here leave it as it is. */
const statusAfter: Partial<Record<EntryType, DeviceStatus>> = {
  DEVICE_REGISTERED: 'INACTIVE',
  DEVICE_ACTIVATED: 'ACTIVE',
  DEVICE_LOCKED: 'LOCKED',
  DEVICE_UNLOCKED: 'ACTIVE',
  DEVICE_DEACTIVATED: 'DEACTIVATED',
};

/** A digest has 22 characters of base64; 16 bytes of it are kept. */
const DIGEST_BYTES = 16;
/** Registrations that may be missing in a row. */
const MOST_MISSING = 100_000;
/** Status (0: not registered), and whether there is an owner, a proved code, at least one tag, and a proof. */
const HAS_OWNER = 8;
const HAS_CODE = 16;
const HAS_TAGS = 32;
const HAS_PROOF = 64;
const STATUS = 7;

/** What is compared of a device. `tags`: their JSON, sorted by name; null if there are none. */
export interface ComparedDevice extends CodedDevice {
  readonly number: number;
  readonly status: DeviceStatus;
  readonly userId: string | null;
  readonly tags: string | null;
  /** As it is stored; null without a proof. */
  readonly proof: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** The devices as the journal says that they are: 33 bytes for each, so that a million take 33 MB; 16 more once a device has tags, and once one has a proof. */
export class DerivedDevices {
  #flags = new Uint8Array(1024);
  #owners = Buffer.alloc(1024 * DIGEST_BYTES);
  #codes = Buffer.alloc(1024 * DIGEST_BYTES);
  /** Empty until a device has tags. */
  #tags = Buffer.alloc(0);
  /** Empty until a device has a proof. */
  #proofs = Buffer.alloc(0);
  #count = 0;
  /** The number that the next row should have. */
  #expected = 1;
  readonly #scratch = Buffer.alloc(DIGEST_BYTES);
  /** Devices whose activation code no entry proves, after `end`. */
  unproved = 0;

  apply(type: EntryType, number: number, data: Fields, detail: Fields): void {
    const status = statusAfter[type];
    if (status !== undefined) this.#setStatus(type, number, status);
    if (typeof data.userId === 'string') this.#store(this.#owners, number, HAS_OWNER, ownerDigest(data.userId));
    const tags = tagsAfter(type, detail);
    if (tags) this.#setTags(number, tags);
    if (typeof detail.proofDigest === 'string') this.#setProof(number, detail.proofDigest);
    if (type !== 'DEVICE_REGISTERED' && type !== 'ACTIVATION_CODE_GENERATED') return;
    if (typeof detail.codeDigest === 'string') this.#store(this.#codes, number, HAS_CODE, detail.codeDigest);
    else this.#flags[number]! &= ~HAS_CODE;
  }

  /** Compares a row of the table with the entries. Rows come by ascending number. */
  compare(row: ComparedDevice, report: (text: string) => void): void {
    this.#reportMissing(this.#expected, row.number, report);
    this.#expected = row.number + 1;
    this.#compareRow(row, report);
  }

  /** Reports the devices that the table lacks after its last row. */
  end(report: (text: string) => void): void {
    this.#reportMissing(this.#expected, this.#count + 1, report);
  }

  #compareRow(row: ComparedDevice, report: (text: string) => void): void {
    const id = deviceIds.format(row.number);
    const flags = row.number <= this.#count ? this.#flags[row.number]! : 0;
    if (flags === 0) {
      report(`${id} was added without an entry`);
      return;
    }
    const status = statuses[(flags & STATUS) - 1];
    if (status !== row.status) report(`${id} is ${row.status}, the journal says ${status}`);
    const sameOwner =
      (flags & HAS_OWNER) === 0
        ? row.userId === null
        : row.userId !== null && this.#isStored(this.#owners, row.number, ownerDigest(row.userId));
    if (!sameOwner) report(`the owner of ${id} was changed without an entry`);
    if (!this.#hasTags(row, flags)) report(`the tags of ${id} were changed without an entry`);
    if (!this.#hasProof(row, flags)) report(`the proof of ${id} was changed without an entry`);
    if ((flags & HAS_CODE) === 0) this.unproved++;
    else if (!this.#isStored(this.#codes, row.number, codeDigest(row)))
      report(`the activation code, the serial number or the model of ${id} was changed without an entry`);
  }

  #hasTags({ number, tags }: ComparedDevice, flags: number): boolean {
    if ((flags & HAS_TAGS) === 0) return tags === null;
    return tags !== null && this.#isStored(this.#tags, number, tagsDigest(tags));
  }

  #hasProof({ number, proof }: ComparedDevice, flags: number): boolean {
    if ((flags & HAS_PROOF) === 0) return proof === null;
    return proof !== null && this.#isStored(this.#proofs, number, proofDigest(proof));
  }

  #setProof(number: number, digest: string): void {
    if (this.#proofs.length === 0) this.#proofs = Buffer.alloc(this.#codes.length);
    this.#store(this.#proofs, number, HAS_PROOF, digest);
  }

  #setTags(number: number, tags: object): void {
    if (number > this.#count) return;
    this.#flags[number]! &= ~HAS_TAGS;
    if (Object.keys(tags).length === 0) return;
    if (this.#tags.length === 0) this.#tags = Buffer.alloc(this.#codes.length);
    this.#store(this.#tags, number, HAS_TAGS, tagsDigest(JSON.stringify(tags)));
  }

  #reportMissing(from: number, to: number, report: (text: string) => void): void {
    for (let number = from; number < to && number <= this.#count; number++)
      if (this.#flags[number] !== 0) report(`${deviceIds.format(number)} was removed without an entry`);
  }

  #setStatus(type: EntryType, number: number, status: DeviceStatus): void {
    if (type === 'DEVICE_REGISTERED') this.#grow(number);
    if (number > this.#count || (this.#flags[number] === 0 && type !== 'DEVICE_REGISTERED')) return;
    this.#flags[number] = (this.#flags[number]! & ~STATUS) | (statuses.indexOf(status) + 1);
  }

  /** Devices are numbered without gaps. If entries were removed, some may be missing, but a forged number must not fill the memory. */
  #grow(number: number): void {
    if (number <= this.#count || number > this.#count + MOST_MISSING) return;
    this.#count = number;
    if (number < this.#flags.length) return;
    const size = Math.max(this.#flags.length * 2, number + 1);
    const grown = <T extends Uint8Array>(to: T, from: Uint8Array): T => {
      to.set(from);
      return to;
    };
    this.#flags = grown(new Uint8Array(size), this.#flags);
    this.#owners = grown(Buffer.alloc(size * DIGEST_BYTES), this.#owners);
    this.#codes = grown(Buffer.alloc(size * DIGEST_BYTES), this.#codes);
    if (this.#tags.length > 0) this.#tags = grown(Buffer.alloc(size * DIGEST_BYTES), this.#tags);
    if (this.#proofs.length > 0) this.#proofs = grown(Buffer.alloc(size * DIGEST_BYTES), this.#proofs);
  }

  #store(digests: Buffer, number: number, flag: number, digest: string): void {
    if (number > this.#count) return;
    digests.write(digest, number * DIGEST_BYTES, DIGEST_BYTES, 'base64');
    this.#flags[number]! |= flag;
  }

  #isStored(digests: Buffer, number: number, digest: string): boolean {
    this.#scratch.write(digest, 0, DIGEST_BYTES, 'base64');
    const at = number * DIGEST_BYTES;
    return this.#scratch.compare(digests, at, at + DIGEST_BYTES) === 0;
  }
}

/** The tags of a device after an entry, as the entry says; null if it is not about tags. */
function tagsAfter(type: EntryType, detail: Fields): object | null {
  const after = type === 'DEVICE_UPDATED' && isObject(detail.after) ? detail.after : detail;
  const tags = type === 'DEVICE_UPDATED' || type === 'DEVICE_REGISTERED' ? after.tags : null;
  return isObject(tags) ? tags : null;
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

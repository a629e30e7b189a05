/**
 * The state of devices by their entries, in little memory: 33 bytes for each device, 4 more once one has a person, and 16 more once
 * one has tags, and once one has a proof.
 */
import { type JournalEvent, journalEvent } from '../../src/contract/event-types.ts';
import { deviceIds, personIds } from '../../src/contract/ids.ts';
import { isObject } from '../../src/contract/json-object.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { DeviceStatus } from '../../src/contract/values.ts';
import { counted, type Fields, type Replay, type ReplayedEntry, type Report } from '../store/write/replay.ts';
import { type CodedDevice, codeDigest, codedFields, ownerDigest, proofDigest, tagsDigest } from './digest.ts';

/** Digests of what entries prove. A digest has 22 characters of base64; 16 bytes of it are kept. */
const kinds = ['owner', 'code', 'tags', 'proof'] as const;
type Kind = (typeof kinds)[number];

/** The content of an entry about a device. A digest that is absent stays as it was; null: it has none. */
type Content = { readonly status?: DeviceStatus | undefined; readonly person?: number | undefined } & {
  readonly [K in Kind]?: string | null | undefined;
};

const statuses: readonly DeviceStatus[] = ['INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED'];
const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === 'string' ? value : otherwise);

function saidBy({ type, data, detail }: ReplayedEntry): Content {
  const { status, hasCode, isFirst, hasChanges } = journalEvent(type) ?? ({} as Partial<JournalEvent>);
  return {
    status,
    person: personAfter(detail),
    owner: ownerAfter(data, detail),
    tags: isFirst || hasChanges ? tagsAfter(detail) : undefined,
    proof: textOr(detail.proofDigest, undefined),
    code: hasCode ? textOr(detail.codeDigest, null) : undefined,
  };
}

/** The digest of the owner after an entry; undefined if it is not about the owner. */
function ownerAfter(data: Fields, { after }: Fields): string | undefined {
  const userId = data.userId ?? (isObject(after) ? after.userId : undefined);
  return typeof userId === 'string' ? ownerDigest(userId) : undefined;
}

/** The number of the person after an entry, 0 for none; undefined if it is not about the person. */
const personAfter = ({ personId }: Fields): number | undefined =>
  personId === undefined ? undefined : typeof personId === 'string' ? (personIds.parse(personId) ?? 0) : 0;

/** The digest of the tags after a registration or an update; undefined if it is not about tags. */
function tagsAfter(detail: Fields): string | null | undefined {
  const { tags } = isObject(detail.after) ? detail.after : detail;
  if (!isObject(tags)) return undefined;
  return Object.keys(tags).length === 0 ? null : tagsDigest(JSON.stringify(tags));
}

/** A device as engines exchange it. `tags`: their JSON, sorted by name; null if there are none. */
interface ComparedDevice extends CodedDevice {
  readonly number: number;
  readonly status: DeviceStatus;
  readonly userId: string | null;
  readonly userKey: string | null;
  readonly person: number | null;
  readonly tags: string | null;
  readonly proof: string | null;
}

const digestsOf: { readonly [K in Kind]: (row: ComparedDevice) => string | null } = {
  owner: ({ userId }) => userId && ownerDigest(userId),
  code: codeDigest,
  tags: ({ tags }) => tags && tagsDigest(tags),
  proof: ({ proof }) => proof && proofDigest(proof),
};
const namesOf: Readonly<Record<Kind, string>> = {
  owner: 'the owner',
  tags: 'the tags',
  proof: 'the proof',
  code: 'the activation code, the serial number or the model',
};

const DIGEST_BYTES = 16;
/** The bits of the state (0: not registered). Those above say which digests there are. */
const STATUS = 7;
const bitOf = (kind: Kind) => 8 << kinds.indexOf(kind);
/** Registrations that may be missing in a row. */
const MOST_MISSING = 100_000;

export class DeviceReplay implements Replay<number, ComparedDevice> {
  readonly table = 'device';
  readonly fields = ['number', 'status', 'userId', 'userKey', 'person', 'tags', 'proof', ...codedFields] as const;
  /** Devices whose activation code no entry proves. */
  #unproved = 0;
  #flags = new Uint8Array(1024);
  /** Absent until a device has one. */
  readonly #digests = new Map<Kind, Buffer>();
  #count = 0;
  /** The number of the person of each device, 0 without one; empty until a device has one. */
  #persons = new Uint32Array(0);
  /** The number that the next row should have. */
  #expected = 1;
  readonly #scratch = Buffer.alloc(DIGEST_BYTES);

  apply(number: number, entry: ReplayedEntry): void {
    if (entry.type === 'DEVICE_USED') return;
    const said = saidBy(entry);
    const isFirst = journalEvent(entry.type)?.isFirst === true;
    if (isFirst) this.#grow(number);
    if (number > this.#count) return;
    const isRegistered = this.#flags[number] !== 0 || isFirst;
    if (said.status && isRegistered)
      this.#flags[number] = (this.#flags[number]! & ~STATUS) | (statuses.indexOf(said.status) + 1);
    if (said.person !== undefined) this.#bind(number, said.person);
    for (const kind of kinds) {
      const digest = said[kind];
      if (digest === null) this.#flags[number]! &= ~bitOf(kind);
      else if (digest !== undefined) this.#store(kind, number, digest);
    }
  }

  /** Takes an entry about many devices. */
  bound({ bound }: Fields): void {
    if (!Array.isArray(bound)) return;
    for (const [device, person] of bound as readonly (readonly [number, number])[])
      if (device <= this.#count) this.#bind(device, person);
  }

  compare(row: ComparedDevice, report: Report): void {
    this.#reportMissing(this.#expected, row.number, report);
    this.#expected = row.number + 1;
    const id = deviceIds.format(row.number);
    const flags = row.number <= this.#count ? this.#flags[row.number]! : 0;
    if (flags === 0) {
      report(`${id} was added without an entry`);
      return;
    }
    const status = statuses[(flags & STATUS) - 1];
    if (status !== row.status) report(`${id} is ${row.status}, the journal records ${status}`);
    const isKeyOther = row.userKey !== null && row.userKey !== personKey(row.userId ?? '');
    const isOwnerSaid = this.#isSame('owner', row, (flags & bitOf('owner')) !== 0);
    if ((isKeyOther && isOwnerSaid) || (row.person ?? 0) !== (this.#persons[row.number] ?? 0))
      report(`the person of ${id} was changed without an entry`);
    for (const kind of kinds) {
      const isSaid = (flags & bitOf(kind)) !== 0;
      if (kind === 'code' && !isSaid) this.#unproved++;
      else if (!this.#isSame(kind, row, isSaid))
        report(`${namesOf[kind]} of ${id} ${kind === 'tags' ? 'were' : 'was'} changed without an entry`);
    }
  }

  get notCovered(): string {
    return counted(this.#unproved, 'activation code', 'activation codes', 'device', 'devices');
  }

  end(report: Report): void {
    this.#reportMissing(this.#expected, this.#count + 1, report);
  }

  #isSame(kind: Kind, row: ComparedDevice, isSaid: boolean): boolean {
    const digest = digestsOf[kind](row);
    if (digest === null || !isSaid) return digest === null && !isSaid;
    this.#scratch.write(digest, 0, DIGEST_BYTES, 'base64');
    const at = row.number * DIGEST_BYTES;
    return this.#scratch.compare(this.#digests.get(kind)!, at, at + DIGEST_BYTES) === 0;
  }

  #bind(number: number, person: number): void {
    if (person > 0 && number >= this.#persons.length) {
      const before = this.#persons;
      this.#persons = new Uint32Array(this.#flags.length);
      this.#persons.set(before);
    }
    if (number < this.#persons.length) this.#persons[number] = person;
  }

  #reportMissing(from: number, to: number, report: Report): void {
    for (let number = from; number < to && number <= this.#count; number++)
      if (this.#flags[number] !== 0) report(`${deviceIds.format(number)} was removed without an entry`);
  }

  /** Devices are numbered without gaps. If entries were removed, some may be missing, but a forged number must not fill the memory. */
  #grow(number: number): void {
    if (number <= this.#count || number > this.#count + MOST_MISSING) return;
    this.#count = number;
    if (number < this.#flags.length) return;
    const size = Math.max(this.#flags.length * 2, number + 1);
    const before = this.#flags;
    this.#flags = new Uint8Array(size);
    this.#flags.set(before);
    for (const [kind, digests] of this.#digests) {
      const grown = Buffer.alloc(size * DIGEST_BYTES);
      grown.set(digests);
      this.#digests.set(kind, grown);
    }
  }

  #store(kind: Kind, number: number, digest: string): void {
    const digests = this.#digests.get(kind) ?? Buffer.alloc(this.#flags.length * DIGEST_BYTES);
    this.#digests.set(kind, digests);
    digests.write(digest, number * DIGEST_BYTES, DIGEST_BYTES, 'base64');
    this.#flags[number]! |= bitOf(kind);
  }
}

import { hourMs } from '../../../../src/contract/durations.ts';
import { type ProofGrade, proofGrades } from '../../../../src/contract/key-values.ts';
import { namesIn } from '../../../../src/contract/names.ts';
import { type DeviceStatus, type DeviceType, deviceStatuses, deviceTypes } from '../../../../src/contract/values.ts';
import type { DeviceFilter, DeviceStatistics } from '../../queries.ts';
import type { DeviceRecord } from '../../records.ts';
import { type Bits, bitsFor } from './bits.ts';
import { grown, type NumberSet } from './number-set.ts';
import { Serials } from './serials.ts';
import { TextSets } from './text-sets.ts';

/** The times that lists sort or filter by. */
type TimeName = 'createdAt' | 'activatedAt' | 'lastUsedAt' | 'updatedAt' | 'activationCodeExpiresAt';
/** The texts that lists filter or sort by, except serial numbers. */
type TextName = 'deviceType' | 'status' | 'manufacturer' | 'model' | 'proof';
const timeNames = namesIn(
  'createdAt activatedAt lastUsedAt updatedAt activationCodeExpiresAt',
) satisfies readonly TimeName[];

/** Fields by which lists filter and sort, beside the grade of the proof. */
export const listedFields = [
  ...namesIn('deviceType serialNumber manufacturer model status'),
  ...timeNames,
] satisfies readonly (keyof DeviceRecord)[];
/** A device with these fields. */
export type ListedDevice = Pick<DeviceRecord, (typeof listedFields)[number]>;

const kinds = deviceTypes.length * deviceStatuses.length;

/**
 * Fields by which lists filter and sort, in memory: an element of typed arrays for each device, and a set of devices for each value of
 * a filter. 69 bytes a device. A filtered page of a million devices takes as long as one of a thousand; SQL without an
 * index for every combination takes up to 130 ms.
 */
export class DeviceColumns {
  /** Devices from 1 to this number are included. */
  count = 0;
  /** Whether a device was ever created at an earlier time than the device before it: then the order of creation is not that of numbers. */
  clockSteppedBack = false;
  readonly serials = new Serials();
  readonly texts: Readonly<Record<TextName, TextSets>> = {
    deviceType: new TextSets(deviceTypes),
    status: new TextSets(deviceStatuses),
    manufacturer: new TextSets(),
    model: new TextSets(),
    proof: new TextSets(proofGrades),
  };
  /** By number of the device; NaN if it has no such time. */
  readonly times: Record<TimeName, Float64Array> = {
    createdAt: new Float64Array(0),
    activatedAt: new Float64Array(0),
    lastUsedAt: new Float64Array(0),
    updatedAt: new Float64Array(0),
    activationCodeExpiresAt: new Float64Array(0),
  };
  /** Number of registrations by hour since 1970. */
  readonly hours = new Map<number, number>();
  /** Type and status of each device as one number: see `kindOf`. */
  #kinds = new Uint8Array(0);
  #manufacturers = new Uint32Array(0);
  /** Grade of the proof of each device. */
  #grades = new Uint8Array(0);
  /** For each manufacturer, the number of devices of each kind. */
  readonly #counts: Uint32Array[] = [];

  /** Makes room for `count` devices in all, so that adding them copies nothing. */
  reserve(count: number): void {
    for (const name of timeNames) this.times[name] = grown(this.times[name], count + 1);
    this.#kinds = grown(this.#kinds, count + 1);
    this.#manufacturers = grown(this.#manufacturers, count + 1);
    this.#grades = grown(this.#grades, count + 1);
  }

  /** Adds the next device. */
  add(device: ListedDevice, proofGrade: ProofGrade): void {
    const { texts, times } = this;
    const n = this.count + 1;
    if (n >= this.#kinds.length) this.reserve(n);
    if (n > 1 && device.createdAt < times.createdAt[n - 1]!) this.clockSteppedBack = true;
    for (const name of timeNames) times[name][n] = device[name] ?? Number.NaN;
    this.serials.add(device.serialNumber);
    const kind = kindOf(device.deviceType, device.status);
    const manufacturer = texts.manufacturer.id(device.manufacturer);
    texts.deviceType.sets[deviceTypes.indexOf(device.deviceType)]!.add(n);
    texts.status.sets[deviceStatuses.indexOf(device.status)]!.add(n);
    texts.manufacturer.sets[manufacturer]!.add(n);
    texts.model.sets[texts.model.id(device.model)]!.add(n);
    const grade = proofGrades.indexOf(proofGrade);
    texts.proof.sets[grade]!.add(n);
    this.#grades[n] = grade;
    this.#kinds[n] = kind;
    this.#manufacturers[n] = manufacturer;
    this.#counts[manufacturer] ??= new Uint32Array(kinds);
    this.#counts[manufacturer][kind]!++;
    const hour = Math.floor(device.createdAt / hourMs);
    this.hours.set(hour, (this.hours.get(hour) ?? 0) + 1);
    this.count = n;
  }

  /** Type and status of each device as one number. */
  get kinds(): Uint8Array {
    return this.#kinds;
  }

  /** For each number in `kinds`, 1 if it has this status. */
  kindsWith(status: DeviceStatus): Uint8Array {
    return Uint8Array.from({ length: kinds }, (_, kind) =>
      Number(deviceStatuses[kind % deviceStatuses.length] === status),
    );
  }

  /** The counts of each type, state and manufacturer; combinations without devices are left out. */
  *counts(): Generator<DeviceStatistics['counts'][number]> {
    for (const [id, byKind] of this.#counts.entries())
      for (const deviceType of deviceTypes)
        for (const status of deviceStatuses) {
          const count = byKind[kindOf(deviceType, status)]!;
          if (count > 0) yield { deviceType, status, manufacturer: this.texts.manufacturer.text(id), count };
        }
  }

  /** Null if the device has no such time any more. */
  setTime(n: number, name: TimeName, value: number | null): void {
    this.times[name][n] = value ?? Number.NaN;
  }

  /** Moves device n to the set of `status`. */
  setStatus(n: number, status: DeviceStatus): void {
    const { sets } = this.texts.status;
    const counts = this.#counts[this.#manufacturers[n]!]!;
    const before = this.#kinds[n]!;
    const after = before - (before % deviceStatuses.length) + deviceStatuses.indexOf(status);
    sets[before % deviceStatuses.length]!.delete(n);
    sets[after % deviceStatuses.length]!.add(n);
    counts[before]!--;
    counts[after]!++;
    this.#kinds[n] = after;
  }

  /** Moves device n to the set of `grade`. */
  setGrade(n: number, grade: ProofGrade): void {
    const { sets } = this.texts.proof;
    const after = proofGrades.indexOf(grade);
    if (after === this.#grades[n]) return;
    sets[this.#grades[n]!]!.delete(n);
    sets[after]!.add(n);
    this.#grades[n] = after;
  }

  /** A set for each of type, status, grade, manufacturer and model for which the filter names one value; null if nothing can match. */
  sets({ deviceType, status, manufacturer, model, proof }: DeviceFilter): NumberSet[] | null {
    const found: NumberSet[] = [];
    const one = (name: string | undefined) => (name === undefined ? undefined : [name]);
    const names = { deviceType, status, proof, manufacturer: one(manufacturer), model: one(model) };
    for (const [name, texts] of Object.entries(names)) {
      if (texts?.length !== 1) continue;
      const values = this.texts[name as TextName];
      const id = values.find(texts[0]!);
      if (id === undefined) return null;
      found.push(values.sets[id]!);
    }
    return found;
  }

  /** For each of type, status and grade for which the filter names several values, the devices up to `last` with one of them. */
  unions({ deviceType, status, proof }: DeviceFilter, last: number): Bits[] {
    const found: Bits[] = [];
    for (const [name, texts] of Object.entries({ deviceType, status, proof })) {
      if (texts === undefined || texts.length === 1) continue;
      const values = this.texts[name as TextName];
      const bits = bitsFor(last);
      for (const text of texts) values.sets[values.find(text)!]!.addTo(bits);
      found.push(bits);
    }
    return found;
  }

  /** How many devices match type, status and manufacturer, from counters. */
  total({ deviceType, status, manufacturer }: DeviceFilter): number {
    let tables: readonly Uint32Array[] = this.#counts;
    if (manufacturer !== undefined) {
      const id = this.texts.manufacturer.find(manufacturer);
      tables = id === undefined ? [] : [this.#counts[id]!];
    }
    let total = 0;
    // A value that is named twice counts once.
    for (const type of new Set(deviceType ?? deviceTypes))
      for (const state of new Set(status ?? deviceStatuses))
        for (const counts of tables) total += counts[kindOf(type, state)]!;
    return total;
  }
}

const kindOf = (type: DeviceType, status: DeviceStatus): number =>
  deviceTypes.indexOf(type) * deviceStatuses.length + deviceStatuses.indexOf(status);

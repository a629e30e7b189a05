/** The figures of a selection of devices, from its export. Memory is bounded, whatever the number of devices. */
import type { DeviceListItem } from '../contract/device-shapes.ts';
import { type ProofGrade, proofGrades } from '../contract/key-values.ts';
import { type DeviceStatus, type DeviceType, deviceStatuses, deviceTypes } from '../contract/values.ts';
import { IdSet } from './id-set.ts';
import { type Bin, type GapBin, Gaps, Timeline } from './timeline.ts';

/** Counts of the devices of a selection. */
export interface FleetFigures {
  readonly total: number;
  readonly byStatus: Readonly<Record<DeviceStatus, number>>;
  readonly byType: Readonly<Record<DeviceType, number>>;
  /** The largest first. */
  readonly byModel: readonly ModelCount[];
  /** Devices of models that are not in `byModel`. */
  readonly otherModels: number;
  /** Without a proof: `none`. */
  readonly byProof: Readonly<Record<ProofGrade, number>>;
  readonly registrations: {
    readonly first: string | null;
    readonly last: string | null;
    /** Mean from the first to the last one; null if all were at one time. */
    readonly perHour: number | null;
    /** Width of each of `bins`. */
    readonly binMinutes: number;
    readonly bins: readonly Bin[];
  };
  /** Time between two registrations, in the order of their ids; null without two of them. */
  readonly secondsBetween: {
    readonly median: number | null;
    readonly p95: number | null;
    readonly bins: readonly GapBin[];
  };
  /** Users with a device; `isMore`: there are more than `count`. */
  readonly persons: { readonly count: number; readonly isMore: boolean };
}

interface ModelCount {
  readonly manufacturer: string;
  readonly model: string;
  readonly count: number;
}

/** Different models that are counted; devices of others are counted together. */
const mostModels = 1_000;
/** Different users that are counted. */
const mostPersons = 200_000;

/** Counts devices one after the other, in ascending order of their ids. */
export class DeviceCounts {
  /** The ids of all devices. */
  readonly ids = new IdSet();
  /** The device with the lowest id, which was registered before the others; null without a device. */
  first: string | null = null;
  readonly #byStatus = zeros(deviceStatuses);
  readonly #byType = zeros(deviceTypes);
  readonly #byProof = zeros(proofGrades);
  readonly #models = new Map<string, ModelCount>();
  readonly #persons = new Set<string>();
  readonly #timeline = new Timeline();
  readonly #gaps = new Gaps();
  #before = Number.NaN;
  #otherModels = 0;
  #total = 0;
  #hasMorePersons = false;

  take(device: DeviceListItem): void {
    this.#total++;
    this.first ??= device.deviceId;
    this.ids.add(device.deviceId);
    count(this.#byStatus, device.status);
    count(this.#byType, device.deviceType);
    count(this.#byProof, device.proof?.grade ?? 'none');
    this.#model(String(device.manufacturer ?? '-'), String(device.model ?? '-'));
    if (device.userId) this.#person(device.userId);
    this.#time(Date.parse(device.createdAt));
  }

  get figures(): FleetFigures {
    return {
      total: this.#total,
      byStatus: this.#byStatus,
      byType: this.#byType,
      byModel: [...this.#models.values()].sort((a, b) => b.count - a.count),
      otherModels: this.#otherModels,
      byProof: this.#byProof,
      registrations: {
        first: this.#timeline.first,
        last: this.#timeline.last,
        perHour: this.#timeline.perHour,
        binMinutes: this.#timeline.minutes,
        bins: this.#timeline.bins,
      },
      secondsBetween: {
        median: this.#gaps.quantile(0.5),
        p95: this.#gaps.quantile(0.95),
        bins: this.#gaps.bins,
      },
      persons: { count: this.#persons.size, isMore: this.#hasMorePersons },
    };
  }

  #model(manufacturer: string, model: string): void {
    const key = `${manufacturer}\n${model}`;
    const known = this.#models.get(key);
    if (known === undefined && this.#models.size === mostModels) this.#otherModels++;
    else this.#models.set(key, { manufacturer, model, count: (known?.count ?? 0) + 1 });
  }

  #person(userId: string): void {
    if (this.#persons.size < mostPersons) this.#persons.add(userId);
    else if (!this.#persons.has(userId)) this.#hasMorePersons = true;
  }

  #time(time: number): void {
    if (Number.isNaN(time)) return;
    this.#timeline.take(time);
    if (!Number.isNaN(this.#before)) this.#gaps.take(time - this.#before);
    this.#before = time;
  }
}

const zeros = <N extends string>(names: readonly N[]): Record<N, number> =>
  Object.fromEntries(names.map(name => [name, 0])) as Record<N, number>;

/** A server of another version can have other names; those are in no count. */
function count<N extends string>(counts: Record<N, number>, name: N): void {
  if (Object.hasOwn(counts, name)) counts[name]++;
}

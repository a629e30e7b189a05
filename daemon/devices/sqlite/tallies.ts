/** By how much a transaction changes the tallies, which triggers keep in PostgreSQL. */
import { dayMs } from '../../../src/contract/durations.ts';
import { countedTags, type DeviceStatus } from '../../../src/contract/values.ts';
import type { RecordChange } from '../../store/write/records.ts';
import { moves } from '../../store/write/tallies.ts';
import { storedProof } from '../proof.ts';
import type { Tally } from '../queries.ts';
import type { DeviceRecord } from '../records.ts';

/** By how much the tallies change. */
export class Tallies {
  readonly #found = new Map<string, { -readonly [K in keyof Tally]: Tally[K] }>();

  /** A device that came into a state, or left it. */
  enter({ type, at, detail }: { readonly type: string; readonly at: number; readonly detail: string }): void {
    const move = moves[type];
    if (!move) return;
    const day = `${Math.floor(at / dayMs)}`;
    const from = type === 'DEVICE_DEACTIVATED' ? (JSON.parse(detail) as { before?: DeviceStatus }).before : move.from;
    this.#count('day', day, move.to, 1);
    if (from) this.#count('day', day, from, -1);
  }

  added(device: DeviceRecord): void {
    this.#device(device, 1);
  }

  changed({ before, after }: RecordChange<DeviceRecord>): void {
    if (before.status === after.status && before.tags === after.tags && before.proof === after.proof) return;
    this.#device(before, -1);
    this.#device(after, 1);
  }

  get all(): readonly Tally[] {
    return [...this.#found.values()].filter(({ count }) => count !== 0);
  }

  #device({ manufacturer, model, status, tags, proof }: DeviceRecord, by: 1 | -1): void {
    this.#count('model', `${manufacturer}\n${model}`, status, by);
    for (const tag of countedTags) if (tags[tag] !== undefined) this.#count(tag, tags[tag], status, by);
    if (proof !== null)
      for (const advisory of new Set(storedProof(proof).advisories)) this.#count('advisory', advisory, status, by);
  }

  #count(subject: Tally['subject'], value: string, status: DeviceStatus, by: 1 | -1): void {
    const key = `${subject} ${status} ${value}`;
    const found = this.#found.get(key);
    if (found) found.count += by;
    else this.#found.set(key, { subject, value, status, count: by });
  }
}

/** Delivers the keys of a spool file. Each is registered once, even if an earlier attempt was sent. */
import type { DeviceDetail } from '../../../../contract/device-shapes.ts';
import { minuteMs } from '../../../../contract/durations.ts';
import { idempotency } from '../../../../contract/limits.ts';
import { type EnrollmentParts, KeyEnrollment } from '../../../../enrollment/key-enrollment.ts';
import { type EnrollmentOutcome, remarked } from '../../../../enrollment/outcome.ts';
import { differencesOf } from '../../../../enrollment/same-device.ts';
import { isServerRefusal, NotServing } from '../../../client/failures.ts';
import type { Context } from '../../../framework/context.ts';
import { enrollmentParts, isAway, keysIn } from '../enroll/enrollment-parts.ts';
import type { KeyLabel } from '../labels/enrolled.ts';
import { endings, keyOf, optionsOf, rowOf, type SpoolEntry, waitingRow } from './lines.ts';
import type { SpoolItem } from './read.ts';
import type { SpoolFile } from './spool-file.ts';

/** How long the registry certainly has the response to an idempotency key: an hour less than it promises, because clocks differ. */
const replayMs = (idempotency.hours - 1) * 60 * minuteMs;
/** How far the clock of a station may be ahead of the one of the registry. */
const clockMs = 10 * minuteMs;

/** Dependencies of a delivery. */
interface Parts {
  readonly context: Context;
  readonly spool: SpoolFile;
  /** Prints labels; null prints none. */
  readonly label: KeyLabel | null;
  /** Writes a result where the operator keeps results. The key is marked as delivered after that. */
  readonly write: (row: EnrollmentOutcome, stillWaits: boolean) => Promise<void>;
  /** The row of a key that is bound, which has failed if the key is needed for more. */
  readonly handover?: (entry: SpoolEntry, row: EnrollmentOutcome) => Promise<EnrollmentOutcome>;
}

/** The result of a key. */
interface Delivered {
  readonly row: EnrollmentOutcome;
  /** Whether the key still waits: it could not be delivered now. */
  readonly stillWaits: boolean;
}

/** Delivers keys one by one. */
export class SpoolDelivery {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Throws if every other key would fail as well; then the key still waits. */
  async deliver(item: SpoolItem): Promise<Delivered> {
    const { spool, label, write } = this.#parts;
    const { row: delivered, stillWaits: isUncertain } = await this.#result(item);
    const bound = await this.#withOtherKeys(item.entry, delivered);
    const enrolled = (await this.#parts.handover?.(item.entry, bound)) ?? bound;
    const stillWaits = isUncertain || (enrolled.result === 'failed' && bound.result !== 'failed');
    const isBound = enrolled.result === 'registered' || (enrolled.result === 'known' && enrolled.name !== undefined);
    const row = label !== null && isBound ? await label.print(enrolled) : enrolled;
    await write(row, stillWaits);
    const { deviceId, message } = row;
    const result = endings.find(ending => ending === row.result) ?? 'failed';
    if (!stillWaits) await spool.done(item, { at: new Date().toISOString(), result, deviceId, message });
    return { row, stillWaits };
  }

  /** When the key was plugged in, nothing asked which keys its person has: the registry was away. */
  async #withOtherKeys({ userId }: SpoolEntry, row: EnrollmentOutcome): Promise<EnrollmentOutcome> {
    if (userId === null || row.status !== 'ACTIVE' || (row.result !== 'registered' && row.result !== 'known'))
      return row;
    const { registry } = enrollmentParts(this.#parts.context);
    const keys = await registry.keysOf(userId).catch(() => []);
    const others = keys.filter(({ deviceId }) => deviceId !== row.deviceId);
    return others.length === 0 ? row : remarked(row, `${userId} also has ${keysIn(others)}`);
  }

  async #result(item: SpoolItem): Promise<Delivered> {
    const { entry, sentAt } = item;
    const { id } = entry;
    const isOurs = (device: DeviceDetail) => sentAt !== null && isOfEntry(entry, device, sentAt);
    const enrollment = new KeyEnrollment(await this.#enrollmentParts(item), optionsOf(entry), {
      id,
      isOurs,
      proved: entry.proof ?? null,
    });
    try {
      const outcome = await enrollment.handle(keyOf(entry));
      // A key that is registered and not activated needs the operator.
      const isFailed = outcome.result !== 'conflict' && outcome.message !== null;
      return { row: rowOf(entry, isFailed ? { ...outcome, result: 'failed' } : outcome), stillWaits: false };
    } catch (error) {
      if (!isServerRefusal(error) || error instanceof NotServing || !isAway(error)) throw error;
      // An error of the server may concern only this key: those behind it are tried.
      const message = `${error.message}; it is still waiting`;
      return { row: waitingRow(entry, { result: 'failed', message }), stillWaits: true };
    }
  }

  /**
   * A registration that was sent before is repeated under its idempotency key while the registry has its response. Later the same request
   * would be another registration, so the device is looked up first. An answer that is lost now is not looked up: the next delivery repeats
   * it.
   */
  async #enrollmentParts(item: SpoolItem): Promise<EnrollmentParts> {
    const { context, spool } = this.#parts;
    const { entry, sentAt } = item;
    // Ctrl-C lets the request under way end: its result is not lost.
    const client = context.registry.with({ finish: true });
    const { registry, words } = enrollmentParts(context, client);
    const isStored = sentAt !== null && Date.now() - Date.parse(sentAt) < replayMs && (await client.acceptsKeys());
    return {
      words,
      registry: {
        ...registry,
        deviceOf: async () => (sentAt === null || isStored ? null : registry.find(entry.registration.serialNumber)),
        register: async (body, id) => {
          if (!isStored) await spool.sent(item);
          return registry.register(body, id);
        },
        failureOf: error => ({ ...registry.failureOf(error), isLost: false }),
      },
    };
  }
}

/** Whether an earlier attempt of this entry has registered the device. */
function isOfEntry({ registration }: SpoolEntry, device: DeviceDetail, sentAt: string): boolean {
  return (
    differencesOf(registration, device).length === 0 && Date.parse(device.createdAt) >= Date.parse(sentAt) - clockMs
  );
}

/** Delivers the keys of a spool file. Each is registered once, even if an earlier attempt was sent. */
import { Code } from '../../../../contract/codes.ts';
import type { DeviceDetail } from '../../../../contract/device-shapes.ts';
import { idempotency } from '../../../../contract/limits.ts';
import { activationKey } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { Client } from '../../../client/client.ts';
import { isServerRefusal, NotServing } from '../../../client/failures.ts';
import { deviceOfSerial, isAway, isOfOneKey } from '../enroll/enrollment-parts.ts';
import type { KeyLabel } from '../labels/enrolled.ts';
import { type Ending, endings, type SpoolEntry } from './lines.ts';
import type { SpoolItem } from './read.ts';
import type { SpoolFile } from './spool-file.ts';

const minuteMs = 60_000;
/** How long the registry certainly has the response to an idempotency key: an hour less than it promises, because clocks differ. */
const replayMs = (idempotency.hours - 1) * 60 * minuteMs;
/** How far the clock of a station may be ahead of the one of the registry. */
const clockMs = 10 * minuteMs;

/** What a delivery needs. */
interface DeliveryParts {
  readonly client: Client;
  readonly spool: SpoolFile;
  /** Prints labels; null prints none. */
  readonly label: KeyLabel | null;
  /** Writes a result where the operator keeps results. The key is marked as delivered after that. */
  readonly write: (row: EnrollmentOutcome) => Promise<void>;
}

/** The result of a key. */
interface DeliveredKey {
  readonly row: EnrollmentOutcome;
  /** Whether the key still waits: it could not be delivered now. */
  readonly stillWaits: boolean;
}

/** Delivers keys one by one. */
export class Delivery {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** Throws if every other key would fail as well; then the key still waits. */
  async deliver(item: SpoolItem): Promise<DeliveredKey> {
    const { spool, label, write } = this.#parts;
    const { row: enrolled, stillWaits } = await this.#result(item, spool.entry(item));
    const isBound = enrolled.result === 'registered' || (enrolled.result === 'known' && enrolled.name !== undefined);
    const row = label !== null && isBound ? await label.print(enrolled) : enrolled;
    await write(row);
    const { deviceId, message } = row;
    if (!stillWaits)
      await spool.done(item, {
        at: new Date().toISOString(),
        result: endingOf(row),
        deviceId,
        message: message ?? null,
      });
    return { row, stillWaits };
  }

  async #result(item: SpoolItem, entry: SpoolEntry): Promise<DeliveredKey> {
    try {
      return { row: await this.#register(item, entry), stillWaits: false };
    } catch (error) {
      if (!isOfOneKey(error) || error instanceof NotServing) throw error;
      const { message } = error;
      // An error of the server may concern only this key: those behind it are tried.
      const stillWaits = isAway(error);
      const words = stillWaits ? `${message}; it still waits` : message;
      return { row: rowOf(entry, { result: 'failed', message: words }), stillWaits };
    }
  }

  async #register(item: SpoolItem, entry: SpoolEntry): Promise<EnrollmentOutcome> {
    const { client, spool } = this.#parts;
    const { sentAt } = item;
    const isStored = sentAt !== null && Date.now() - Date.parse(sentAt) < replayMs && (await client.acceptsKeys());
    // The registry may have forgotten the key: the same request would be another registration.
    const before = sentAt === null || isStored ? null : await this.#find(entry);
    if (before !== null) return this.#existing(entry, before, sentAt);
    if (!isStored) await spool.sent(item);
    try {
      const { data } = await client.send({
        operation: 'registerDevice',
        key: item.id,
        input: { body: entry.registration },
      });
      const { deviceId, activationCode, status } = data;
      return await this.#activated(entry, rowOf(entry, { result: 'registered', deviceId, activationCode, status }));
    } catch (error) {
      if (!isServerRefusal(error, Code.serialDuplicated)) throw error;
      const device = await this.#find(entry);
      if (device === null) throw error;
      return this.#existing(entry, device, sentAt);
    }
  }

  #find({ registration }: SpoolEntry): Promise<DeviceDetail | null> {
    return deviceOfSerial(this.#parts.client, registration.serialNumber);
  }

  /** The result for a device that is in the registry: of this entry, one that its person may have, or a conflict. */
  #existing(
    entry: SpoolEntry,
    device: DeviceDetail,
    sentAt: string | null,
  ): Promise<EnrollmentOutcome> | EnrollmentOutcome {
    const { deviceId, status, userId, activationCode } = device;
    const isOurs = sentAt !== null && isOfEntry(entry, device, sentAt);
    const wanted = entry.userId;
    const isFree = wanted !== null && status === 'INACTIVE';
    const isBound = wanted !== null && status === 'ACTIVE' && userId === wanted;
    if (!isFree && !isBound && !(isOurs && wanted === null)) return conflict(entry, device);
    const { manufacturer, model } = device;
    const result = isOurs ? 'registered' : 'known';
    const row = rowOf(entry, { result, deviceId, status, userId, activationCode, manufacturer, model });
    return isFree ? this.#activated(entry, row) : row;
  }

  /** Activates the device if the entry names a user. A refusal is reported; the registration is kept. */
  async #activated(entry: SpoolEntry, row: EnrollmentOutcome): Promise<EnrollmentOutcome> {
    const { deviceId, activationCode } = row;
    const { userId } = entry;
    if (userId === null || deviceId === null) return row;
    if (activationCode === null) return failed(entry, row, 'its code is not visible to your role');
    try {
      const body = { deviceId, activationCode, userId };
      const request = { operation: 'activateDevice', key: activationKey(entry.id), input: { body } } as const;
      const { status } = (await this.#parts.client.send(request)).data;
      return { ...row, status, userId };
    } catch (error) {
      if (!isServerRefusal(error) || !isOfOneKey(error)) throw error;
      const { message } = error;
      if (isAway(error)) throw error;
      return failed(entry, row, message);
    }
  }
}

/** Whether an earlier attempt of this entry has registered the device. */
function isOfEntry({ registration }: SpoolEntry, device: DeviceDetail, sentAt: string): boolean {
  const fields = ['deviceType', 'manufacturer', 'model'] as const;
  const isSame = fields.every(field => registration[field] === device[field]);
  return isSame && Date.parse(device.createdAt) >= Date.parse(sentAt) - clockMs;
}

function conflict(entry: SpoolEntry, device: DeviceDetail): EnrollmentOutcome {
  const { deviceId, status, userId, userName, createdAt } = device;
  const holder = userId === null ? '' : ` for ${userName === null ? userId : `${userId} (${userName})`}`;
  const message = `already registered as ${deviceId} since ${createdAt}, ${status}${holder}`;
  const isRoster = entry.name !== undefined;
  return rowOf(entry, { result: 'conflict', deviceId, status, userId: isRoster ? entry.userId : userId, message });
}

const failed = (entry: SpoolEntry, row: EnrollmentOutcome, why: string): EnrollmentOutcome => ({
  ...row,
  result: 'failed',
  userId: entry.name === undefined ? row.userId : entry.userId,
  message: `${row.result}, but not activated: ${why}`,
});

const endingOf = ({ result }: EnrollmentOutcome): Ending => endings.find(ending => ending === result) ?? 'failed';

/** The row of an entry. */
export function rowOf(
  entry: SpoolEntry,
  what: Partial<EnrollmentOutcome> & Pick<EnrollmentOutcome, 'result'>,
): EnrollmentOutcome {
  const { registration, serialSource, simulated, name, userId } = entry;
  const { serialNumber, deviceType, manufacturer, model, firmwareVersion = null, tags } = registration;
  const { result, ...rest } = what;
  return {
    result,
    deviceId: null,
    serialNumber,
    deviceType,
    activationCode: null,
    status: null,
    userId: name === undefined ? null : userId,
    manufacturer,
    model,
    firmwareVersion,
    serialSource,
    simulated,
    message: null,
    ...(tags === undefined ? {} : { tags }),
    ...(name === undefined ? {} : { name }),
    ...rest,
  };
}

import type { Key } from '../../../../contract/hardware.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';

/** Which keys are done. Each counts once, however often it is plugged in, in this run and in the runs it continues. */
export class KeyCount {
  /** DeviceId by serial number; null in a dry run, and for a key that is spooled. */
  readonly #handled = new Map<string, string | null>();
  /** DeviceId by serial number in the runs that this one continues; null for a key that was spooled. */
  readonly #earlier: ReadonlyMap<string, string | null>;
  /** By serial number, or by keyId if it could not be read: it may be readable later while it stays attached. */
  readonly #failed = new Set<string>();
  /** Serial numbers of those of them that no other attempt changes: their devices cannot be activated for the user. */
  readonly #refused = new Set<string>();
  readonly #wanted: number | null;
  #enrolled: number;

  constructor(earlier: ReadonlyMap<string, string | null>, wanted: number | null) {
    this.#earlier = earlier;
    this.#wanted = wanted;
    this.#enrolled = earlier.size;
  }

  get done(): number {
    return this.#enrolled + this.refused;
  }

  get refused(): number {
    return this.#refused.size;
  }

  get failed(): number {
    return this.#failed.size;
  }

  get doneNow(): number {
    return this.done - this.#earlier.size;
  }

  get reached(): boolean {
    return this.#wanted !== null && this.done >= this.#wanted;
  }

  /** The device of a key that this run has handled; undefined if it is new. */
  handled({ serialNumber }: Key): string | null | undefined {
    return serialNumber === null ? undefined : this.#handled.get(serialNumber);
  }

  /** `as before`: an earlier run has already reported this result. `isRefused`: the device cannot be activated for the user. */
  take(
    { keyId, serialNumber }: Key,
    { result, deviceId, message }: EnrollmentOutcome,
    isRefused: boolean,
  ): 'new' | 'as before' {
    if (result === 'failed' || serialNumber === null) {
      this.#failed.delete(keyId);
      this.#failed.add(serialNumber ?? keyId);
      if (isRefused && serialNumber !== null && !this.#earlier.has(serialNumber)) this.#refused.add(serialNumber);
      return 'new';
    }
    this.#refused.delete(serialNumber);
    this.#failed.delete(keyId);
    this.#failed.delete(serialNumber);
    this.#handled.set(serialNumber, deviceId);
    const before = this.#earlier.get(serialNumber);
    if (before === undefined) this.#enrolled++;
    const isRepeat = result === 'known' || result === 'spooled';
    return isRepeat && deviceId === before && message === null ? 'as before' : 'new';
  }

  /** A key that an earlier run has begun, and this one has finished. */
  settled({ serialNumber, deviceId }: EnrollmentOutcome): void {
    if (serialNumber === null) return;
    this.#handled.set(serialNumber, deviceId);
    if (!this.#earlier.has(serialNumber)) this.#enrolled++;
  }

  /** The result of a key that was spooled. If it is not registered now, it can be plugged in again. */
  delivered({ serialNumber, deviceId, result }: EnrollmentOutcome): void {
    if (serialNumber === null || !this.#handled.has(serialNumber)) return;
    if (result === 'registered' || result === 'known') {
      this.#handled.set(serialNumber, deviceId);
      return;
    }
    this.#handled.delete(serialNumber);
    this.#failed.add(serialNumber);
    if (!this.#earlier.has(serialNumber)) this.#enrolled--;
  }
}

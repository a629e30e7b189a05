/** What is done with one key that was plugged in. */
import type { DeviceStatus, DeviceType } from '../../../contract/device-fields.ts';
import type { DeviceDetail } from '../../../contract/device-shapes.ts';
import type { Key } from '../../../contract/hardware.ts';
import { isRefusal, Refusal, Unreachable } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { findBySerial } from '../devices/find-device.ts';
import { registrationOf } from '../devices/registration.ts';

export interface EnrolOptions {
  /** In place of what the key tells; null takes that. */
  readonly manufacturer: string | null;
  readonly model: string | null;
  /** Activate each key for this user; null leaves it INACTIVE. */
  readonly activateFor: string | null;
  readonly dryRun: boolean;
}

/** `known`: it was registered before. `new`: it would be registered (a dry run). */
export type EnrolResult = 'registered' | 'known' | 'new' | 'failed';

/** A result as it is written, too. */
export interface Outcome {
  readonly result: EnrolResult;
  readonly deviceId: string | null;
  readonly serialNumber: string | null;
  readonly deviceType: DeviceType;
  readonly activationCode: string | null;
  readonly status: DeviceStatus | null;
  readonly userId: string | null;
  readonly manufacturer: string;
  readonly model: string;
  readonly firmwareVersion: string | null;
  readonly serialSource: string | null;
  readonly simulated: boolean;
  /** Why it failed, or what else there is to say. */
  readonly message: string | null;
}

/** Where a key does not tell and nobody has said. */
const unknown = 'unknown';

/** Refusals that no other key would fare better with. */
const fatal = [1004, 1005, 2007, 401, 403, 429];

export class Enrolment {
  readonly #context: Context;
  readonly #options: EnrolOptions;

  constructor(context: Context, options: EnrolOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** What became of the key; what would befall every key is a fault. */
  async handle(key: Key): Promise<Outcome> {
    const { serialNumber } = key;
    if (serialNumber === null)
      return this.#outcome(key, { result: 'failed', message: key.problem ?? 'its serial number cannot be read' });
    try {
      const known = await this.#known(key);
      if (known) return known;
      if (this.#options.dryRun) return this.#outcome(key, { result: 'new' });
      return await this.#register(key, serialNumber);
    } catch (error) {
      if (!(error instanceof Refusal) || fatal.includes(error.code)) throw error;
      return this.#outcome(key, { result: 'failed', message: error.message });
    }
  }

  /** A key that the registry has; null where it has not. */
  async #known(key: Key): Promise<Outcome | null> {
    const device = await registrationOf(this.#context, key);
    return device && this.#recognised(key, device.deviceId);
  }

  async #recognised(key: Key, deviceId: string): Promise<Outcome> {
    const device = await this.#context.registry.call('deviceDetail', { params: { deviceId } });
    const { status, userId, activationCode, manufacturer, model } = device;
    const message = this.#whyNotActivated(device);
    const known = { deviceId, status, userId, activationCode, manufacturer, model, message };
    return this.#activated(this.#outcome(key, { result: 'known', ...known }));
  }

  /** Why --activate-for can do nothing for a device, and what can be done; null where it can, or need not. */
  #whyNotActivated({ deviceId, status, userId, userName }: DeviceDetail): string | null {
    const { activateFor, dryRun } = this.#options;
    if (activateFor === null || status === 'INACTIVE' || (status === 'ACTIVE' && userId === activateFor)) return null;
    const holder = userId === null ? 'another user' : userName === null ? userId : `${userId} (${userName})`;
    const not = `${dryRun ? 'would not be' : 'not'} activated for ${activateFor}: it is ${status}`;
    switch (status) {
      case 'ACTIVE':
        return `${not} for ${holder}, and stays so. Give it back, or retire it and take another key: devmgr deactivate ${deviceId} --reason WHY`;
      case 'LOCKED':
        return userId === activateFor
          ? `${not}. Unlock it: devmgr unlock ${deviceId}`
          : `${not}, and held by ${holder}. Give it back, or take another key`;
      case 'DEACTIVATED':
        return `${not}, which is for good. Take another key`;
    }
  }

  async #register(key: Key, serialNumber: string): Promise<Outcome> {
    const { registry } = this.#context;
    const { manufacturer, model } = this.#named(key);
    const body = {
      deviceType: key.deviceType,
      serialNumber,
      manufacturer,
      model,
      ...(key.hardwareVersion === null ? {} : { hardwareVersion: key.hardwareVersion }),
      ...(key.firmwareVersion === null ? {} : { firmwareVersion: key.firmwareVersion }),
    };
    try {
      const { deviceId, activationCode, status } = await registry.call('register', { body });
      return this.#activated(this.#outcome(key, { result: 'registered', deviceId, activationCode, status }));
    } catch (error) {
      // Somebody else was quicker, or the answer to a first try was lost: it is there.
      if (!isRefusal(error, 2006) && !(error instanceof Unreachable && error.maybeDone)) throw error;
      const { exact } = await findBySerial(registry, serialNumber);
      if (!exact) throw error;
      const known = await this.#recognised(key, exact.deviceId);
      return error instanceof Unreachable ? { ...known, result: 'registered' } : known;
    }
  }

  /** With --activate-for, what is INACTIVE is activated; a refusal is told, and the registration stands. */
  async #activated(outcome: Outcome): Promise<Outcome> {
    const { activateFor, dryRun } = this.#options;
    const { deviceId, activationCode } = outcome;
    if (activateFor === null || dryRun || outcome.status !== 'INACTIVE' || deviceId === null) return outcome;
    if (activationCode === null) return { ...outcome, message: 'not activated: its code is not shown to your role' };
    try {
      const data = await this.#context.registry.call('activate', {
        body: { deviceId, activationCode, userId: activateFor },
      });
      return { ...outcome, status: data.status, userId: data.userId };
    } catch (error) {
      if (!(error instanceof Refusal) || fatal.includes(error.code)) throw error;
      return { ...outcome, result: 'failed', message: `${outcome.result}, but not activated: ${error.message}` };
    }
  }

  #named(key: Key): { readonly manufacturer: string; readonly model: string } {
    return {
      manufacturer: this.#options.manufacturer ?? key.manufacturer ?? unknown,
      model: this.#options.model ?? key.model ?? unknown,
    };
  }

  #outcome(key: Key, what: Partial<Outcome> & { readonly result: EnrolResult }): Outcome {
    const { result, ...rest } = what;
    return {
      result,
      deviceId: null,
      serialNumber: key.serialNumber,
      deviceType: key.deviceType,
      activationCode: null,
      status: null,
      userId: null,
      ...this.#named(key),
      firmwareVersion: key.firmwareVersion,
      serialSource: key.serialSource,
      simulated: key.simulated,
      message: null,
      ...rest,
    };
  }
}

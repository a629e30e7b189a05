/** Enrolls one attached key: finds or registers its device, and activates it if that is wanted. */

import type { DeviceDetail } from '../../../contract/device-shapes.ts';
import type { Key } from '../../../contract/hardware.ts';
import type { DeviceStatus, DeviceType } from '../../../contract/values.ts';
import { isServerRefusal, ServerRefusal, Unreachable } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { findBySerial } from '../devices/find-device.ts';
import { registrationOf } from '../devices/registration.ts';

/** How keys are enrolled. */
export interface EnrollKeyOptions {
  /** Overrides what the key reports; null does not. */
  readonly manufacturer: string | null;
  readonly model: string | null;
  /** Activate each key for this user; null leaves it INACTIVE. */
  readonly activateFor: string | null;
  readonly dryRun: boolean;
}

/** `known`: it was already registered. `new`: it would be registered (in a dry run). */
export type EnrollResult = 'registered' | 'known' | 'new' | 'failed';

/** The result for one key, with the fields that are written. */
export interface EnrolledKey {
  readonly result: EnrollResult;
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
  /** Why it failed, or a remark; null if there is none. */
  readonly message: string | null;
}

/** Manufacturer and model if neither the key nor the user names them. */
const unknown = 'unknown';

/** Refusals that every other key would meet as well. */
const fatal = [1004, 1005, 2007, 401, 403, 429];

/** Enrolls keys one by one, with the same options. */
export class KeyEnrollment {
  readonly #context: Context;
  readonly #options: EnrollKeyOptions;

  constructor(context: Context, options: EnrollKeyOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** The result for the key. Throws if every other key would fail as well. */
  async handle(key: Key): Promise<EnrolledKey> {
    const { serialNumber } = key;
    if (serialNumber === null)
      return this.#outcome(key, { result: 'failed', message: key.problem ?? 'its serial number cannot be read' });
    try {
      const known = await this.#known(key);
      if (known) return known;
      if (this.#options.dryRun) return this.#outcome(key, { result: 'new' });
      return await this.#register(key, serialNumber);
    } catch (error) {
      if (!(error instanceof ServerRefusal) || fatal.includes(error.code)) throw error;
      return this.#outcome(key, { result: 'failed', message: error.message });
    }
  }

  /** The result for a registered key; null if it is not registered. */
  async #known(key: Key): Promise<EnrolledKey | null> {
    const device = await registrationOf(this.#context, key);
    return device && this.#recognized(key, device.deviceId);
  }

  async #recognized(key: Key, deviceId: string): Promise<EnrolledKey> {
    const device = await this.#context.registry.call('deviceDetail', { params: { deviceId } });
    const { status, userId, activationCode, manufacturer, model } = device;
    const message = this.#whyNotActivated(device);
    const known = { deviceId, status, userId, activationCode, manufacturer, model, message };
    return this.#activated(this.#outcome(key, { result: 'known', ...known }));
  }

  /** Why --activate-for cannot activate a device, and what to do; null if it can, or has nothing to do. */
  #whyNotActivated({ deviceId, status, userId, userName }: DeviceDetail): string | null {
    const { activateFor, dryRun } = this.#options;
    if (activateFor === null || status === 'INACTIVE' || (status === 'ACTIVE' && userId === activateFor)) return null;
    const holder = userId === null ? 'another user' : userName === null ? userId : `${userId} (${userName})`;
    const not = `${dryRun ? 'would not be' : 'not'} activated for ${activateFor}: it is ${status}`;
    switch (status) {
      case 'ACTIVE':
        return `${not} for ${holder}. Return it to that user, or retire it and use another key: devmgr deactivate ${deviceId} --reason TEXT`;
      case 'LOCKED':
        return userId === activateFor
          ? `${not}. Unlock it: devmgr unlock ${deviceId}`
          : `${not}, and bound to ${holder}. Return it to that user, or use another key`;
      case 'DEACTIVATED':
        return `${not} permanently. Use another key`;
    }
  }

  async #register(key: Key, serialNumber: string): Promise<EnrolledKey> {
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
      // Another client registered it first, or the response to our first attempt was lost.
      if (!isServerRefusal(error, 2006) && !(error instanceof Unreachable && error.maybeDone)) throw error;
      const { exact } = await findBySerial(registry, serialNumber);
      if (!exact) throw error;
      const known = await this.#recognized(key, exact.deviceId);
      return error instanceof Unreachable ? { ...known, result: 'registered' } : known;
    }
  }

  /** With --activate-for, activates an INACTIVE device. A refusal is reported; the registration is kept. */
  async #activated(outcome: EnrolledKey): Promise<EnrolledKey> {
    const { activateFor, dryRun } = this.#options;
    const { deviceId, activationCode } = outcome;
    if (activateFor === null || dryRun || outcome.status !== 'INACTIVE' || deviceId === null) return outcome;
    if (activationCode === null) return { ...outcome, message: 'not activated: its code is not visible to your role' };
    try {
      const data = await this.#context.registry.call('activate', {
        body: { deviceId, activationCode, userId: activateFor },
      });
      return { ...outcome, status: data.status, userId: data.userId };
    } catch (error) {
      if (!(error instanceof ServerRefusal) || fatal.includes(error.code)) throw error;
      return { ...outcome, result: 'failed', message: `${outcome.result}, but not activated: ${error.message}` };
    }
  }

  #named(key: Key): { readonly manufacturer: string; readonly model: string } {
    return {
      manufacturer: this.#options.manufacturer ?? key.manufacturer ?? unknown,
      model: this.#options.model ?? key.model ?? unknown,
    };
  }

  #outcome(key: Key, what: Partial<EnrolledKey> & { readonly result: EnrollResult }): EnrolledKey {
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

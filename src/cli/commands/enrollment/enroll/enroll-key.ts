/** Enrolls one attached key: finds or registers its device, and activates it if that is wanted. */
import { Code } from '../../../../contract/codes.ts';
import type { DeviceDetail } from '../../../../contract/device-shapes.ts';
import { hasGrade } from '../../../../contract/grades.ts';
import type { Key } from '../../../../contract/hardware.ts';
import type { Proof } from '../../../../contract/proof.ts';
import type { Tags } from '../../../../contract/tags.ts';
import type { DeviceStatus, DeviceType } from '../../../../contract/values.ts';
import { isServerRefusal, NotServing, ServerRefusal, Unreachable } from '../../../client/failures.ts';
import { newKey } from '../../../client/keyed-write.ts';
import type { Context } from '../../../framework/context.ts';
import { Fault } from '../../../framework/fault.ts';
import { findBySerial } from '../../devices/find-device.ts';
import { registrationOf } from '../../devices/registration.ts';

/** How keys are enrolled. */
export interface EnrollKeyOptions {
  /** Overrides what the key reports; null does not. */
  readonly manufacturer: string | null;
  readonly model: string | null;
  /** Activate each key for this user; null leaves it INACTIVE. */
  readonly activateFor: string | null;
  readonly dryRun: boolean;
  /** Least grade that a key must prove to be registered; `none` proves it and requires nothing. Null does not prove it. */
  readonly proof: 'none' | 'model' | 'unit' | null;
  /** Tags of each device that is registered; null for none. */
  readonly tags: Tags | null;
}

/**
 * `known`: it was already registered. `new`: it would be registered (in a dry run). `spooled`: it is in the spool file. `conflict`: a
 * key of the spool file that was already registered.
 */
export type EnrollResult = 'registered' | 'known' | 'new' | 'failed' | 'spooled' | 'conflict';

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
  /** Present if keys are proved; null if this one was not asked. */
  readonly proof?: Proof | null;
  /** Present if the run has tags: those of the device. */
  readonly tags?: Tags;
  /** Present if the key is for a person of a roster: the name in the roster, null if that has none. */
  readonly name?: string | null;
  /** Present if the key is for a person of a roster: why it failed, in a few words; null if it passed. */
  readonly failure?: string | null;
  /** Present if the label of the key was to be printed; if that failed, `message` has the reason. */
  readonly label?: 'printed' | 'failed';
}

/** Manufacturer and model if neither the key nor the user names them. */
const unknown = 'unknown';

/** Refusals that every other key would meet as well. */
const fatal = [Code.tokenInvalid, Code.tokenExpired, Code.noPermission, 401, 403, 429];

/** A proof, and the challenge that it answers; null if the device had it before. */
export interface Proved {
  readonly proof: Proof | null;
  readonly proofId: string | null;
  /** Why the key may not be registered; null if it may. */
  readonly refusal: string | null;
}

const isUnplugged = (error: unknown): boolean => error instanceof Fault && error.kind === 'hardware';

/** Whether an error concerns one key; any other error would stop every key. */
export const isOfOneKey = (error: unknown): error is Error =>
  isServerRefusal(error) ? !fatal.includes(error.code) : isUnplugged(error);

/** Whether the registry cannot be reached or does not work now: a key that meets this error can be registered later. */
export const isAway = (error: unknown): error is Error =>
  error instanceof Unreachable ||
  error instanceof NotServing ||
  (isServerRefusal(error) && error.code >= 500 && error.code < 600);

/** The idempotency key of the activation that belongs to a registration with this key. */
export const activationKey = (registrationKey: string): string => `${registrationKey}-activate`;

/** What is known of one key before it is enrolled. */
export interface Beforehand {
  /** What it has proved: it is not asked again. */
  readonly proved?: Proved | null;
  /** The idempotency key of its registration. If it is present, errors of `isAway` are thrown: the caller spools the key. */
  readonly id?: string | undefined;
}

/** Enrolls keys one by one, with the same options. */
export class KeyEnrollment {
  readonly #context: Context;
  readonly #options: EnrollKeyOptions;
  readonly #given: Proved | null;
  readonly #id: string | undefined;
  #isSent = false;

  constructor(context: Context, options: EnrollKeyOptions, { proved = null, id }: Beforehand = {}) {
    this.#context = context;
    this.#options = options;
    this.#given = proved;
    this.#id = id;
  }

  /** Whether the registry may have received a registration. */
  get isSent(): boolean {
    return this.#isSent;
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
      if (!isOfOneKey(error) || (this.#id !== undefined && isAway(error))) throw error;
      return this.#outcome(key, { result: 'failed', message: error.message });
    }
  }

  /** The result for a registered key; null if it is not registered. */
  async #known(key: Key): Promise<EnrolledKey | null> {
    const device = await registrationOf(this.#context, key);
    return device && this.#recognized(key, device.deviceId);
  }

  async #recognized(key: Key, deviceId: string): Promise<EnrolledKey> {
    const device = await this.#context.registry.call('getDevice', { params: { deviceId } });
    const { status, userId, activationCode, manufacturer, model } = device;
    const message = this.#whyNotActivated(device);
    const known = { deviceId, status, userId, activationCode, manufacturer, model, message };
    const proof = await this.proved(device.proof ?? null, key);
    const outcome = this.#outcome(key, {
      result: 'known',
      ...known,
      ...(proof === null ? {} : { proof: proof.proof }),
      ...(this.#options.tags === null ? {} : { tags: device.tags }),
    });
    if (proof?.refusal) return { ...outcome, result: 'failed', message: `registered, but ${proof.refusal}` };
    return this.#activated(outcome);
  }

  /** What the key proves: `proof` if that is sufficient, else what it answers now. Null if keys are not proved. */
  async proved(proof: Proof | null, key: Key): Promise<Proved | null> {
    const { proof: required, dryRun } = this.#options;
    if (required === null) return null;
    if (dryRun || hasGrade(proof, required === 'none' ? 'model' : required))
      return { proof, proofId: null, refusal: null };
    return this.#prove(key);
  }

  /** Asks the key. Null if keys are not proved. */
  async #prove(key: Key): Promise<Proved | null> {
    if (this.#given !== null) return this.#given;
    const { proof: required } = this.#options;
    const { serialNumber } = key;
    if (required === null || serialNumber === null) return null;
    const { proveKey, reasonOf } = await import('../../proofs/prove-key.ts');
    // A serial number is proved by the best method; the policy may require a fact that this method does not prove.
    const method = required === 'unit' ? undefined : 'policy';
    const verdict = await proveKey(this.#context, { ...key, serialNumber }, { method });
    const { proof, proofId } = verdict;
    if (required === 'none' || hasGrade(proof, required)) return { proof, proofId, refusal: null };
    const reason = reasonOf(verdict);
    const refusal = `--require-proof ${required}: the grade of this key is ${proof.grade}${reason ? ` (${reason})` : ''}`;
    return { proof, proofId, refusal };
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
    const proved = await this.#prove(key);
    const proof = proved === null ? {} : { proof: proved.proof };
    if (proved?.refusal)
      return this.#outcome(key, { result: 'failed', message: `not registered: ${proved.refusal}`, ...proof });
    const body = {
      ...registrationFor({ ...key, serialNumber }, this.#options),
      ...(proved?.proofId ? { proofId: proved.proofId } : {}),
    };
    try {
      this.#isSent = true;
      const request = { operation: 'registerDevice', key: this.#id ?? newKey(), input: { body } } as const;
      const { deviceId, activationCode, status } = (await registry.send(request)).data;
      return this.#activated(this.#outcome(key, { result: 'registered', deviceId, activationCode, status, ...proof }));
    } catch (error) {
      // Another client registered it first, or the response to our first attempt was lost.
      if (!isServerRefusal(error, Code.serialDuplicated) && !(error instanceof Unreachable && error.maybeDone))
        throw error;
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
      const { data } = await this.#context.registry.send({
        operation: 'activateDevice',
        key: this.#id === undefined ? newKey() : activationKey(this.#id),
        input: { body: { deviceId, activationCode, userId: activateFor } },
      });
      return { ...outcome, status: data.status, userId: data.userId };
    } catch (error) {
      if (!(error instanceof ServerRefusal) || fatal.includes(error.code)) throw error;
      if (this.#id !== undefined && isAway(error)) throw error;
      return { ...outcome, result: 'failed', message: `${outcome.result}, but not activated: ${error.message}` };
    }
  }

  /** The fields for a key that failed before it was looked up. */
  failed(key: Key, message: string): EnrolledKey {
    return this.#outcome(key, { result: 'failed', message });
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
      ...namedBy(key, this.#options),
      firmwareVersion: key.firmwareVersion,
      serialSource: key.serialSource,
      simulated: key.simulated,
      message: null,
      ...(this.#options.proof === null ? {} : { proof: null }),
      ...(this.#options.tags === null ? {} : { tags: this.#options.tags }),
      ...rest,
    };
  }
}

type Naming = Pick<EnrollKeyOptions, 'manufacturer' | 'model'>;

const namedBy = (key: Key, options: Naming): { readonly manufacturer: string; readonly model: string } => ({
  manufacturer: options.manufacturer ?? key.manufacturer ?? unknown,
  model: options.model ?? key.model ?? unknown,
});

/** The body of a registration, without a proof. */
export const registrationFor = (
  key: Key & { readonly serialNumber: string },
  options: Naming & Pick<EnrollKeyOptions, 'tags'>,
) => ({
  deviceType: key.deviceType,
  serialNumber: key.serialNumber,
  ...namedBy(key, options),
  ...(key.hardwareVersion === null ? {} : { hardwareVersion: key.hardwareVersion }),
  ...(key.firmwareVersion === null ? {} : { firmwareVersion: key.firmwareVersion }),
  ...(options.tags === null ? {} : { tags: options.tags }),
});

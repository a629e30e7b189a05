/** Enrolls one key: finds or registers its device, and activates it if a user is named. Used by the command line and the console. */
import type { DeviceDetail } from '../contract/device-shapes.ts';
import { hasGrade } from '../contract/grades.ts';
import type { Key } from '../contract/hardware.ts';
import type { RequiredGrade } from '../contract/key-values.ts';
import { isSameName } from '../contract/person-key.ts';
import type { Proof } from '../contract/proof.ts';
import { isAnswering, otherKeyOf } from './other-key.ts';
import type { DeviceBlock, EnrollmentOutcome, EnrollmentResult } from './outcome.ts';
import { isNumbered, recognizedBy } from './own-number.ts';
import type { MadeIdentity } from './recognition.ts';
import { namedBy, type RegistrationOptions, registrationFor } from './registration.ts';
import type { EnrollmentRegistry, EnrollmentWords } from './registry.ts';

/** How keys are enrolled. */
export interface EnrollKeyOptions extends RegistrationOptions {
  /** Activate each key for this user; null leaves it INACTIVE. */
  readonly activateFor: string | null;
  readonly dryRun: boolean;
  /** Least grade that a key must prove to be registered; `none` proves it and requires nothing. Null does not prove it. */
  readonly proof: RequiredGrade | null;
  /** An ADMIN has confirmed that the key was reset elsewhere, and has lost the credential of its device. */
  readonly wasReset?: boolean;
}

/** A proof, and the challenge that it answers; null if the device had it before. */
export interface ProofOutcome {
  readonly proof: Proof | null;
  readonly proofId: string | null;
  /** Why the key may not be registered; null if it may. */
  readonly refusal: string | null;
}

/** The idempotency key of the activation that belongs to a registration with this key. */
export const activationKey = (registrationKey: string): string => `${registrationKey}-activate`;

/** Dependencies of an enrollment. */
export interface EnrollmentParts {
  readonly registry: EnrollmentRegistry;
  readonly words: EnrollmentWords;
}

/** State of one key from before this enrollment. */
interface KeyFacts {
  /** The proof that it has given, so that it is not asked again. */
  readonly proved?: ProofOutcome | null;
  /** The idempotency key of its registration. If it is present, a registry that is away throws: the key waits in a spool file. */
  readonly id?: string | null;
  /**
   * Whether an earlier attempt has registered the device. If it is present, any other device that cannot be activated for the user is a
   * conflict, without a user each.
   */
  readonly isOurs?: (device: DeviceDetail) => boolean;
}

/** Enrolls keys one by one, with the same options. */
export class KeyEnrollment {
  readonly #registry: EnrollmentRegistry;
  readonly #words: EnrollmentWords;
  readonly #options: EnrollKeyOptions;
  readonly #earlier: ProofOutcome | null;
  readonly #id: string | null;
  readonly #isOurs: KeyFacts['isOurs'];
  #isSent = false;

  constructor(
    { registry, words }: EnrollmentParts,
    options: EnrollKeyOptions,
    { proved = null, id = null, isOurs }: KeyFacts = {},
  ) {
    this.#registry = registry;
    this.#words = words;
    this.#options = options;
    this.#earlier = proved;
    this.#id = id;
    this.#isOurs = isOurs;
  }

  /** Whether the registry may have received a registration. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** The result for the key. Throws if every other key would fail as well. */
  async handle(key: Key): Promise<EnrollmentOutcome> {
    const { serialNumber } = key;
    if (serialNumber === null)
      return this.#outcome(key, { result: 'failed', message: key.problem ?? this.#words({ type: 'unreadable' }) });
    try {
      const known = await this.#known(key);
      if (known) return known;
      if (this.#options.dryRun) return this.#outcome(key, { result: 'new' });
      return await this.#register(key, serialNumber);
    } catch (error) {
      return this.#outcome(key, { result: 'failed', message: this.#messageOf(error) });
    }
  }

  /** The message of an error that concerns this key alone. Throws any other. */
  #messageOf(error: unknown): string {
    const { isOfOneKey, isAway } = this.#registry.failureOf(error);
    if (!isOfOneKey || (this.#id !== null && isAway)) throw error;
    return (error as Error).message;
  }

  /** The result for a registered key; null if it is not registered. */
  async #known(key: Key): Promise<EnrollmentOutcome | null> {
    const device = await this.#registry.deviceOf(key);
    if (device !== null) return this.#recognized(key, device);
    const carried = await this.#registry.recognition.carried(key);
    if (carried === null) return null;
    return this.#outcome(key, { result: 'failed', message: this.#words({ type: 'other device', carried }) });
  }

  async #recognized(key: Key, device: DeviceDetail): Promise<EnrollmentOutcome> {
    const { deviceId, status, userId, activationCode, manufacturer, model } = device;
    if (isNumbered(key)) return this.#bound(key, device);
    if (this.#isConflict(device)) {
      const message = this.#words({ type: 'conflict', device });
      return this.#outcome(key, { result: 'conflict', deviceId, status, userId, message });
    }
    const contradiction = await otherKeyOf(this.#registry, key, device);
    if (contradiction !== null) {
      if (contradiction.shown === 'none' && this.#options.wasReset) return this.#bound(key, device);
      const message = this.#words({ type: 'other key', device, contradiction });
      return this.#outcome(key, { result: 'failed', message });
    }
    const message = this.#whyNotActivated(device);
    const known = { deviceId, status, userId, activationCode, manufacturer, model, message };
    const proof = await this.proved(device.proof ?? null, key);
    const outcome = this.#outcome(key, {
      result: message !== null ? 'failed' : this.#isOurs?.(device) ? 'registered' : 'known',
      ...known,
      ...(proof === null ? {} : { proof: proof.proof }),
      ...(this.#options.tags === null ? {} : { tags: device.tags }),
    });
    if (proof?.refusal) return { ...outcome, result: 'failed', message: `registered, but ${proof.refusal}` };
    const activated = await this.#activated(outcome);
    if (status === 'INACTIVE' && activated.status === 'ACTIVE' && !device.proof) this.#record(key);
    return activated;
  }

  /** The device has the printed number of the key: it gets the credential of the key, unless it has one. */
  async #bound(key: Key, device: DeviceDetail): Promise<EnrollmentOutcome> {
    const { wasReset = false } = this.#options;
    if (device.identity === 'credential' && !wasReset) {
      const message = this.#words({ type: 'number taken', device });
      return this.#outcome(key, { result: 'failed', message });
    }
    if (this.#options.dryRun) return this.#recognized({ ...key, serialSource: recognizedBy }, device);
    const { recognition } = this.#registry;
    const { identity, problem } = await recognition.make(key);
    if (problem !== null) return this.#outcome(key, { result: 'failed', message: problem });
    if (identity !== null) await recognition.bind(device, identity, wasReset);
    return this.#recognized(await recognition.named(key, device.serialNumber), device);
  }

  /** The credential of a key that is registered, or why it has none that it must have. */
  async #identity(key: Key): Promise<MadeIdentity> {
    const isWanted = await needsIdentity(this.#registry, key);
    return isWanted ? this.#registry.recognition.make(key) : { identity: null, problem: null };
  }

  /** A key that is bound to a device for the first time: the next one with this serial number is compared with it. */
  #record(key: Key): void {
    const { serialNumber } = key;
    if (this.#options.proof === null && serialNumber !== null && isAnswering(key))
      this.#registry.recordClaims({ ...key, serialNumber });
  }

  /** While a key waited in a spool file, another client may have registered its device: then it is not a key that has failed. */
  #isConflict(device: DeviceDetail): boolean {
    const { activateFor } = this.#options;
    if (this.#isOurs === undefined) return false;
    return activateFor === null ? !this.#isOurs(device) : blockOf(device, activateFor) !== null;
  }

  /** The proof of the key: `proof` if that is sufficient, else its answer now. Null if keys are not proved. */
  async proved(proof: Proof | null, key: Key): Promise<ProofOutcome | null> {
    const { proof: required, dryRun } = this.#options;
    if (required === null) return null;
    // Every key fulfils `none`. It is asked nevertheless, unless evidence has proved its model before.
    if (dryRun || hasGrade(proof, required === 'none' ? 'model' : required))
      return { proof, proofId: null, refusal: null };
    return this.#prove(key);
  }

  /** Has the key prove itself. Null if keys are not proved. */
  async #prove(key: Key): Promise<ProofOutcome | null> {
    if (this.#earlier !== null) return this.#earlier;
    const { proof: required } = this.#options;
    const { serialNumber } = key;
    if (required === null || serialNumber === null) return null;
    const found = await this.#registry.prove({ ...key, serialNumber }, required);
    const { proof, proofId } = found;
    const isProved = required === 'none' || hasGrade(proof, required);
    return { proof, proofId, refusal: isProved ? null : this.#words({ type: 'unproved', required, found }) };
  }

  /** Why the device cannot be activated for the user; null if it can, or if nothing is to be done. */
  #whyNotActivated(device: DeviceDetail): string | null {
    const { activateFor, dryRun } = this.#options;
    if (activateFor === null || blockOf(device, activateFor) === null) return null;
    return this.#words({ type: 'not activated', device, userId: activateFor, dryRun });
  }

  async #register(key: Key, serialNumber: string): Promise<EnrollmentOutcome> {
    const proved = await this.#prove(key);
    const proof = proved === null ? {} : { proof: proved.proof };
    if (proved?.refusal)
      return this.#outcome(key, { result: 'failed', message: `not registered: ${proved.refusal}`, ...proof });
    const { identity, problem } = await this.#identity(key);
    if (problem !== null)
      return this.#outcome(key, { result: 'failed', message: `not registered: ${problem}`, ...proof });
    const body = {
      ...registrationFor({ ...key, serialNumber }, this.#options),
      ...(proved?.proofId ? { proofId: proved.proofId } : {}),
      ...(identity === null ? {} : { identity }),
    };
    try {
      this.#isSent = true;
      const { deviceId, activationCode, status } = await this.#registry.register(body, this.#id);
      this.#record(key);
      if (isNumbered(key)) await this.#registry.recognition.named(key, serialNumber);
      return this.#activated(this.#outcome(key, { result: 'registered', deviceId, activationCode, status, ...proof }));
    } catch (error) {
      // Another client registered it first, or the response to our first attempt was lost.
      const { isDuplicate, isLost } = this.#registry.failureOf(error);
      const device = isDuplicate || isLost ? await this.#registry.find(serialNumber) : null;
      if (device === null) throw error;
      const known = await this.#recognized(key, device);
      return isLost ? { ...known, result: 'registered' } : known;
    }
  }

  /** Activates an INACTIVE device if a user is named. A refusal is reported; the registration is kept. */
  async #activated(outcome: EnrollmentOutcome): Promise<EnrollmentOutcome> {
    const { activateFor, dryRun } = this.#options;
    const { deviceId, activationCode } = outcome;
    if (activateFor === null || dryRun || outcome.status !== 'INACTIVE' || deviceId === null) return outcome;
    const refused = (why: string | null) => this.#words({ type: 'activation refused', result: outcome.result, why });
    if (activationCode === null) return { ...outcome, message: refused(null) };
    try {
      const body = { deviceId, activationCode, userId: activateFor };
      const id = this.#id === null ? null : activationKey(this.#id);
      const { status, userId } = await this.#registry.activate(body, id);
      return { ...outcome, status, userId };
    } catch (error) {
      return { ...outcome, result: 'failed', message: refused(this.#messageOf(error)) };
    }
  }

  #outcome(key: Key, what: KnownOutcome): EnrollmentOutcome {
    return outcomeOf(key, this.#options, what);
  }
}

type KnownOutcome = Partial<EnrollmentOutcome> & { readonly result: EnrollmentResult };

/** The outcome for a key: what it reports, and what is known of it besides. */
export function outcomeOf(key: Key, options: EnrollKeyOptions, { result, ...rest }: KnownOutcome): EnrollmentOutcome {
  return {
    result,
    deviceId: null,
    serialNumber: key.serialNumber,
    deviceType: key.deviceType,
    activationCode: null,
    status: null,
    userId: null,
    ...namedBy(key, options),
    firmwareVersion: key.firmwareVersion,
    serialSource: key.serialSource,
    simulated: key.simulated,
    message: null,
    ...(options.proof === null ? {} : { proof: null }),
    ...(options.tags === null ? {} : { tags: options.tags }),
    ...rest,
  };
}

/** Whether a key that is not registered must make a credential. */
export const needsIdentity = async (registry: EnrollmentRegistry, key: Key): Promise<boolean> =>
  isNumbered(key) || (isAnswering(key) && (await registry.identityPolicy()) === 'required');

/** Why a registered device cannot be activated for a user; null if it is INACTIVE, or ACTIVE for that user. */
export function blockOf({ status, userId }: Pick<DeviceDetail, 'status' | 'userId'>, user: string): DeviceBlock | null {
  if (status === 'INACTIVE') return null;
  if (status !== 'ACTIVE') return status;
  return isSameName(userId, user) ? null : 'bound to another person';
}

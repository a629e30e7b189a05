/** Keys without a serial number: recognized by the credential that they have made for the registry, or enrolled with a new one. */
import type { ActionSignature } from '../contract/assertion.ts';
import type { DeviceDetail } from '../contract/device-shapes.ts';
import type { Key } from '../contract/hardware.ts';
import type { IdentityCandidate, NewIdentity } from '../contract/identity-shapes.ts';
import type { IdentityAction } from '../contract/key-values.ts';
import { textLengths } from '../contract/limits.ts';
import type { Data, Input } from '../contract/routes.ts';
import { IssueProblem } from './issue-step.ts';
import { isNumbered, type Numbered, recognizedBy, withPrinted } from './own-number.ts';
import { shownBy, soonDescribed, speaksCtap2, surelyDescribed, withClaims } from './same-device.ts';
import type { Poll, Send } from './send.ts';
import { isFor, type Touched, touchedFor } from './touched.ts';

type Candidates = Data<'listIdentityCandidates'>;

/** Whether a key can be recognized by a credential. */
const mayHaveCredential = ({ deviceType, simulated, keyId }: Key): boolean =>
  deviceType === 'UKEY' && !simulated && Boolean(keyId);

/** The credential of a new key, or why it has none. Both null: the policy asks for no credential. */
export type MadeIdentity =
  | { readonly identity: NewIdentity | null; readonly problem: null }
  | { readonly identity: null; readonly problem: string };

/** A credential that a key was found to have. */
interface Found {
  readonly identityId: string;
  readonly candidate: IdentityCandidate;
  readonly assertion: Data<'identifyKey'>['assertion'];
}
/** Failures after which nothing is known about the credentials of a key. */
const unanswered: ReadonlySet<string | null> = new Set(['removed', 'busy', 'mute', 'timeout', 'aborted']);

/** The station, and the errors of its clients. */
export interface RecognitionOptions {
  /** Its name: the credentials that it had last are looked for first. */
  readonly station?: () => Promise<string>;
  /** Whether the registry has an earlier version, which does not know the operation. */
  readonly isUnknown?: (error: unknown) => boolean;
  /** Whether the registry cannot be reached. */
  readonly isAway?: (error: unknown) => boolean;
}

/** Requests of the station for keys without a serial number. Each key is looked for once while it is plugged in. */
export class Recognition {
  readonly #registry: Send;
  readonly #hardware: Send;
  readonly #poll: Poll;
  readonly #options: RecognitionOptions;
  readonly #found = new Map<Key['keyId'], Promise<Key>>();
  /** Credentials of keys that report a serial number. */
  readonly #carried = new Map<Key['keyId'], Promise<IdentityCandidate | null>>();
  /** Challenges whose number was given to a key. */
  readonly #numbers = new Map<Key['keyId'], Data<'createIdentityChallenge'>>();
  /** Keys that have made or used their credential after a touch. */
  readonly #touched = new Map<Key['keyId'], Touched>();
  /** Keys that were not looked for with their claims, or that have not answered: they may have a credential. */
  readonly #doubtful = new Map<Key['keyId'], 'not asked' | 'no answer'>();
  /** Credentials that were made before the registration. */
  readonly #prepared = new Map<Key['keyId'], MadeIdentity>();

  constructor(registry: Send, hardware: Send, poll: Poll, options: RecognitionOptions = {}) {
    this.#registry = registry;
    this.#hardware = hardware;
    this.#poll = poll;
    this.#options = options;
  }

  /** The key with the serial number of its device. Unchanged if it is not recognized, or if it could not be asked. */
  recognized(key: Key): Promise<Key> {
    if (key.serialNumber !== null || !mayHaveCredential(key)) return Promise.resolve(key);
    const found = this.#found.get(key.keyId) ?? this.#recognize(key).catch(error => this.#unasked(key, error));
    this.#found.set(key.keyId, found);
    return found;
  }

  /** A key is looked for again as long as the registry is away. */
  #unasked(key: Key, error: unknown): Key {
    if (!this.#options.isAway?.(error)) return key;
    this.#found.delete(key.keyId);
    return { ...key, problem: NOT_ASKED };
  }

  /** `recognized` for a list. */
  async all(list: readonly Key[]): Promise<Key[]> {
    const listed = new Set(list.map(({ keyId }) => keyId));
    for (const known of [this.#found, this.#carried, this.#touched, this.#doubtful])
      for (const keyId of known.keys()) if (!listed.has(keyId)) known.delete(keyId);
    return Promise.all(list.map(key => this.recognized(key)));
  }

  async #recognize(key: Key): Promise<Key> {
    const found = await this.#find(key);
    return found === null ? key : this.#proved(key, found.identityId, found.candidate, found.assertion);
  }

  /** The device whose credential a key has that reports a serial number; null if it has none, or could not be asked. */
  carried(key: Key): Promise<IdentityCandidate | null> {
    if (!mayHaveCredential(key) || key.serialSource === recognizedBy || isNumbered(key)) return Promise.resolve(null);
    const { keyId } = key;
    const carried = this.#carried.get(keyId) ?? this.#find(key).then(found => found?.candidate ?? null);
    this.#carried.set(keyId, carried);
    return carried.catch(() => {
      this.#carried.delete(keyId);
      return null;
    });
  }

  /** Null: the key has no credential of this registry, unless it is doubtful afterwards. */
  async #find(key: Key): Promise<Found | null> {
    this.#doubtful.set(key.keyId, 'not asked');
    const { identityId, challenge, policy, isInUse } = await this.#registry('createIdentityChallenge', { body: {} });
    if (policy === 'never' || isInUse === false) {
      this.#doubtful.delete(key.keyId);
      return null;
    }
    const asked = await this.#claimed(key);
    let portion: number | null = 1;
    while (portion !== null) {
      const candidates: Candidates = await this.#registry('listIdentityCandidates', {
        body: { ...shownBy(asked), ...(await this.#place()), portion },
      });
      const { relyingParty, list } = candidates;
      if (list.length === 0) break;
      const credentials = list.map(({ credentialId }) => credentialId);
      const found = await this.#identify(key, { step: 'find', relyingParty, challenge, credentials });
      if (unanswered.has(found.failure)) this.#doubtful.set(key.keyId, 'no answer');
      if (found.problem !== null) return null;
      const candidate = list.find(({ credentialId }) => credentialId === found.credentialId);
      if (candidate) return { identityId, candidate, assertion: found.assertion };
      portion = candidates.next;
    }
    if (speaksCtap2(asked)) this.#doubtful.delete(key.keyId);
    return null;
  }

  /** A signature is verified by the registry; with U2F a key only reports that it has the credential. */
  async #proved(
    key: Key,
    identityId: string,
    { serialNumber }: { readonly serialNumber: string },
    assertion: Found['assertion'],
  ): Promise<Key> {
    if (assertion !== null)
      await this.#registry('proveIdentity', {
        params: { identityId },
        body: { ...assertion, ...(await this.#place()) },
      });
    return this.named(key, serialNumber);
  }

  /** The key as the hardware service lists it from now on, if it is still plugged in. */
  async named(key: Key, serialNumber: string): Promise<Numbered> {
    await this.#identify(key, { step: 'name', relyingParty: noParty, serialNumber }).catch(() => null);
    return { ...key, serialNumber, serialSource: recognizedBy, problem: null };
  }

  /** Gives the key a number: the printed one, or one that the registry makes. */
  async numbered(key: Key, printed: string | null): Promise<Numbered> {
    if (printed !== null) return withPrinted(key, printed);
    const challenge = await this.#registry('createIdentityChallenge', { body: {} });
    this.#numbers.set(key.keyId, challenge);
    return { ...key, serialNumber: challenge.number, serialSource: 'auto', problem: null };
  }

  /** Has a numbered key make its credential now: it may be unplugged when it is registered. Resolves to why it made none, or null. */
  async prepare(key: Key): Promise<string | null> {
    if (this.#prepared.has(key.keyId)) return null;
    const made = await this.#make(key);
    if (made.problem === null) this.#prepared.set(key.keyId, made);
    return made.problem;
  }

  /** The credential that the key makes, after a touch. */
  async make(key: Key): Promise<MadeIdentity> {
    const prepared = this.#prepared.get(key.keyId);
    this.#prepared.delete(key.keyId);
    return prepared ?? this.#make(key);
  }

  async #make(key: Key): Promise<MadeIdentity> {
    const [asked, made] = await Promise.all([
      this.#claimed(key),
      this.#numbers.get(key.keyId) ?? this.#registry('createIdentityChallenge', { body: {} }),
    ]);
    const { identityId, challenge, relyingParty, policy } = made;
    if (policy === 'never' || !mayHaveCredential(key)) return { identity: null, problem: null };
    const earlier = await this.#earlier(asked);
    if (earlier !== null) return { identity: null, problem: earlier };
    const { evidence, problem } = await this.#identify(key, { step: 'make', relyingParty, challenge });
    if (!evidence) return { identity: null, problem: problem ?? 'the key has made no credential' };
    const isSlow = evidence.method === 'fido' && !speaksCtap2(asked);
    const described = isSlow ? await this.#claimed(asked, surelyDescribed) : asked;
    if (isSlow) {
      const late = !speaksCtap2(described) ? NOT_DESCRIBED : await this.#earlier(described);
      if (late !== null) return { identity: null, problem: late };
    }
    const { aaguid, firmware } = shownBy(described);
    if (key.serialNumber !== null) this.#touched.set(key.keyId, touchedFor(key.serialNumber));
    const numberSource = key.serialSource === 'printed' || key.serialSource === 'auto' ? key.serialSource : 'key';
    return {
      identity: { identityId, evidence, aaguid, firmware, numberSource, ...(await this.#place()) },
      problem: null,
    };
  }

  /** Why a key makes no credential that has one already, or that does not say whether it has; null if it may make one. */
  async #earlier(asked: Key): Promise<string | null> {
    if (!this.#doubtful.has(asked.keyId) || !speaksCtap2(asked)) return null;
    const found = await this.#find(asked);
    if (found) return `it is ${found.candidate.deviceId}: plug it in again`;
    return this.#doubtful.get(asked.keyId) === 'no answer' ? NO_ANSWER : null;
  }

  /** Gives a registered device the credential of its key. `replace`: in place of the one that was lost. */
  async bind({ deviceId }: DeviceDetail, { identityId, ...body }: NewIdentity, replace: boolean): Promise<void> {
    const made = { deviceId, ...body, ...(replace ? { replace } : {}) };
    await this.#registry('bindIdentity', { params: { identityId }, body: made });
  }

  /**
   * The key of a device with a credential signs after a touch, once for each action: before it is erased, issued or signs a receipt. The
   * registry demands the signature; null if it needs none. Rejects with `IssueProblem` if the key does not sign.
   */
  async prove(key: Numbered, action: IdentityAction): Promise<ActionSignature | null> {
    const { keyId, serialNumber } = key;
    const touched = this.#touched.get(keyId);
    if (touched && isFor(touched, serialNumber, action)) return touched.signed?.signature ?? null;
    if (!mayHaveCredential(key)) return null;
    const { relyingParty, list } = await this.#ofNumber(key, serialNumber);
    const [candidate] = list;
    if (!candidate) return null;
    const { credentialId, deviceId } = candidate;
    const { identityId, challenge } = await this.#registry('createIdentityChallenge', {
      body: { for: { action, deviceId } },
    });
    const { assertion, failure, problem } = await this.#identify(key, {
      step: 'prove',
      relyingParty,
      challenge,
      credentials: [credentialId],
    });
    if (assertion === null)
      throw new IssueProblem(failure ?? 'protocol', `the key has not proved that it is ${deviceId}: ${problem}`);
    await this.#registry('proveIdentity', {
      params: { identityId },
      body: { ...assertion, ...(await this.#place()), deviceId, action },
    });
    const signature = { identityId, ...assertion };
    this.#touched.set(keyId, touchedFor(serialNumber, { action, signature }));
    return signature;
  }

  /** Whether the key has the credential of the device; null if the device has none, or if the key could not be asked. */
  async hasCredentialOf(key: Key, { serialNumber }: Pick<DeviceDetail, 'serialNumber'>): Promise<boolean | null> {
    if (!mayHaveCredential(key)) return null;
    const { relyingParty, list } = await this.#ofNumber(key, serialNumber);
    if (list.length === 0) return null;
    const credentials = list.map(({ credentialId }) => credentialId);
    const { credentialId, problem } = await this.#identify(key, { step: 'find', relyingParty, credentials });
    return problem === null ? credentialId !== null : null;
  }

  /** The credential of the device with this serial number, which needs no claims of the key. */
  #ofNumber(key: Key, serialNumber: string): Promise<Candidates> {
    const { isUnknown = () => false } = this.#options;
    return this.#registry('listIdentityCandidates', { body: { ...shownBy(key), serialNumber } }).catch(error => {
      if (!isUnknown(error)) throw error;
      return { relyingParty: noParty, list: [], next: null };
    });
  }

  async #place(): Promise<{ readonly station?: string }> {
    const { station } = this.#options;
    return station === undefined ? {} : { station: (await station()).slice(0, textLengths.tokenName) };
  }

  /** The key with its claims; as it is if it makes none. */
  #claimed(key: Key, bounds: Parameters<Poll>[1] = soonDescribed): Promise<Key> {
    return withClaims(key, async () => (await this.#hardware('listKeys', {})).list, this.#poll, bounds);
  }

  #identify({ keyId }: Key, body: Input<'identifyKey'>['body']) {
    return this.#hardware('identifyKey', { params: { keyId }, body });
  }
}

const NOT_ASKED =
  'it reports no serial number, and the registry, which recognizes it by its credential, is away: plug it in again when the registry responds, or name the number printed on it';

const NO_ANSWER = 'it does not answer whether it is registered: plug it in again';
const NOT_DESCRIBED = 'it has not described itself, so that it cannot be looked for: plug it in again';

/** A name needs no relying party, and the interface asks for one in every step. */
const noParty = `${'0'.repeat(32)}.devmgr.invalid`;

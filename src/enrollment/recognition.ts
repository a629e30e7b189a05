/** Keys without a serial number: recognized by the credential that they have made for the registry, or enrolled with a new one. */
import type { ActionSignature } from '../contract/assertion.ts';
import type { DataOf, InputOf } from '../contract/define.ts';
import type { DeviceDetail } from '../contract/device-shapes.ts';
import type { Key } from '../contract/hardware.ts';
import type { IdentityCandidate, NewIdentity } from '../contract/identity-shapes.ts';
import type { IdentityAction } from '../contract/key-values.ts';
import { textLengths } from '../contract/limits.ts';
import type { Routes } from '../contract/routes.ts';
import { IssueProblem } from './issue-step.ts';
import { claimedIn } from './same-device.ts';
import type { Poll, Send } from './send.ts';
import { isFor, type Touched, touchedFor } from './touched.ts';

/** Where the number of a key is from that reports none: `serialSource` of the key. */
export type OwnNumberSource = 'printed' | 'auto';
/** `serialSource` of a key that was recognized by its credential. */
export const recognizedBy = 'credential';

type Named = Key & { readonly serialNumber: string };

/** Whether the serial number is one that the key does not report, and its device has no credential yet. */
export const isNumbered = ({ serialSource }: Pick<Key, 'serialSource'>): boolean =>
  serialSource === 'printed' || serialSource === 'auto';

type Candidates = DataOf<Routes['listIdentityCandidates']>;

/** The key under the number that is printed on it. */
export const withPrinted = (key: Key, printed: string): Named => ({
  ...key,
  serialNumber: printed,
  serialSource: 'printed',
  problem: null,
});

/** Whether a key can be recognized by a credential. */
const mayHaveCredential = ({ deviceType, simulated, keyId }: Key): boolean =>
  deviceType === 'UKEY' && !simulated && Boolean(keyId);

/** The credential of a new key, or why it has none. Both null: the policy asks for no credential. */
export type MadeIdentity =
  | { readonly identity: NewIdentity | null; readonly problem: null }
  | { readonly identity: null; readonly problem: string };

/** Milliseconds between two looks at the claims of a key, and in all: a key without a serial number is asked at once. */
const claimsPoll = { everyMs: 50, forMs: 1_500 } as const;

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
  readonly #numbers = new Map<Key['keyId'], DataOf<Routes['createIdentityChallenge']>>();
  /** Keys that have made or used their credential after a touch. */
  readonly #touched = new Map<Key['keyId'], Touched>();
  /** Keys that were looked for before their claims were there, or that have not answered: they may have a credential. */
  readonly #doubtful = new Set<Key['keyId']>();
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

  async #find(key: Key) {
    const { identityId, challenge, policy, isInUse } = await this.#registry('createIdentityChallenge', { body: {} });
    if (policy === 'never' || isInUse === false) return null;
    const asked = await this.#claimed(key);
    this.#doubtful.add(key.keyId);
    let portion: number | null = 1;
    while (portion !== null) {
      const candidates: Candidates = await this.#registry('listIdentityCandidates', {
        body: { ...shownBy(asked), ...(await this.#place()), portion },
      });
      const { relyingParty, list } = candidates;
      if (list.length === 0) break;
      const credentials = list.map(({ credentialId }) => credentialId);
      const found = await this.#identify(key, { step: 'find', relyingParty, challenge, credentials });
      if (found.problem !== null) return null;
      const candidate = list.find(({ credentialId }) => credentialId === found.credentialId);
      if (candidate) return { identityId, candidate, assertion: found.assertion };
      portion = candidates.next;
    }
    if (shownBy(asked).protocol === 'CTAP2') this.#doubtful.delete(key.keyId);
    return null;
  }

  /** A signature is verified by the registry; with U2F a key only reports that it has the credential. */
  async #proved(
    key: Key,
    identityId: string,
    { serialNumber }: { readonly serialNumber: string },
    assertion: DataOf<Routes['identifyKey']>['assertion'],
  ): Promise<Key> {
    if (assertion !== null)
      await this.#registry('proveIdentity', {
        params: { identityId },
        body: { ...assertion, ...(await this.#place()) },
      });
    return this.named(key, serialNumber);
  }

  /** The key as the hardware service lists it from now on, if it is still plugged in. */
  async named(key: Key, serialNumber: string): Promise<Named> {
    await this.#identify(key, { step: 'name', relyingParty: noParty, serialNumber }).catch(() => null);
    return { ...key, serialNumber, serialSource: recognizedBy, problem: null };
  }

  /** Gives the key a number: the printed one, or one that the registry makes. */
  async numbered(key: Key, printed: string | null): Promise<Named> {
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
    const mayBeEnrolled = this.#doubtful.has(key.keyId) && shownBy(asked).protocol === 'CTAP2';
    const earlier = mayBeEnrolled ? await this.#find(asked) : null;
    if (earlier) return { identity: null, problem: `it is ${earlier.candidate.deviceId}: plug it in again` };
    const { evidence, problem } = await this.#identify(key, { step: 'make', relyingParty, challenge });
    if (!evidence) return { identity: null, problem: problem ?? 'the key has made no credential' };
    const { aaguid, firmware } = shownBy(asked);
    if (key.serialNumber !== null) this.#touched.set(key.keyId, touchedFor(key.serialNumber));
    const numberSource = key.serialSource === 'printed' || key.serialSource === 'auto' ? key.serialSource : 'key';
    return {
      identity: { identityId, evidence, aaguid, firmware, numberSource, ...(await this.#place()) },
      problem: null,
    };
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
  async prove(key: Named, action: IdentityAction): Promise<ActionSignature | null> {
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
  async #claimed(key: Key): Promise<Key> {
    if (Object.keys(key.claims ?? {}).length > 0) return key;
    return (
      (await this.#poll(async () => claimedIn((await this.#hardware('listKeys', {})).list, key), claimsPoll)) ?? key
    );
  }

  #identify({ keyId }: Key, body: InputOf<Routes['identifyKey']>['body']) {
    return this.#hardware('identifyKey', { params: { keyId }, body });
  }
}

const NOT_ASKED =
  'it reports no serial number, and the registry, which recognizes it by its credential, is away: plug it in again when the registry responds, or name the number printed on it';

/** A name needs no relying party, and the interface asks for one in every step. */
const noParty = `${'0'.repeat(32)}.devmgr.invalid`;

/** Facts that select the credentials that a key may have. A key of U2F claims nothing. */
const shownBy = ({ claims, firmwareVersion }: Key) => ({
  protocol: Object.keys(claims ?? {}).length > 0 ? ('CTAP2' as const) : ('U2F' as const),
  aaguid: claims?.aaguid ?? null,
  firmware: claims?.firmware ?? firmwareVersion,
});

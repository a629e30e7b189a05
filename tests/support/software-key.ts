/** A security key and the browser around it: takes options of WebAuthn in JSON, and returns what a page would send. */
import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { writeCbor } from './test-cbor.ts';
import { ecKeys, pointOf } from './test-pki.ts';

const FLAG = { present: 0x01, verified: 0x04, credential: 0x40 } as const;
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

interface Credential {
  readonly id: Buffer;
  readonly rpId: string;
  readonly userHandle: string;
  readonly key: KeyObject;
}

interface Descriptor {
  readonly id: string;
}
export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
  readonly excludeCredentials?: readonly Descriptor[];
}
export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly allowCredentials?: readonly Descriptor[];
}

/** The changes of a dishonest page, proxy or key. */
export interface Changes {
  readonly rpId?: string;
  readonly challenge?: string;
  readonly userHandle?: string;
  readonly type?: string;
  /** Without PIN or fingerprint. */
  readonly unverified?: true;
  /** The report of the browser about a page in a frame. */
  readonly frame?: { readonly crossOrigin?: unknown; readonly topOrigin?: string };
  /** Instead of the next one. */
  readonly counter?: number;
}

export class SoftwareKey {
  readonly #credentials: Credential[] = [];
  readonly #counts: boolean;
  #counter = 0;

  /** `counts: false`: the signature counter stays 0, as in keys that are synchronized. */
  constructor({ counts = true }: { readonly counts?: boolean } = {}) {
    this.#counts = counts;
  }

  /** `navigator.credentials.create`. Throws like a browser if the key has one of the excluded credentials. */
  create(options: CreationOptions, origin: string, changes: Changes = {}) {
    const excluded = new Set(options.excludeCredentials?.map(({ id }) => id));
    if (this.#credentials.some(({ id }) => excluded.has(base64url(id)))) throw new Error('InvalidStateError');
    const { privateKey, publicKey } = ecKeys();
    const rpId = changes.rpId ?? options.rp.id;
    const credential = { id: randomBytes(32), rpId, userHandle: options.user.id, key: privateKey };
    this.#credentials.push(credential);
    const point = pointOf(publicKey);
    const cose = writeCbor(
      new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, point.subarray(1, 33)],
        [-3, point.subarray(33)],
      ]),
    );
    const attested = Buffer.concat([Buffer.alloc(16), Uint8Array.of(0, credential.id.length), credential.id, cose]);
    const authData = Buffer.concat([this.#head(rpId, FLAG.credential, changes), attested]);
    const attestation = writeCbor(
      new Map<string, string | Uint8Array | ReadonlyMap<string, string>>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    );
    const clientDataJSON = clientData(changes.type ?? 'webauthn.create', options.challenge, origin, changes);
    return {
      ...outer(credential),
      response: {
        clientDataJSON: base64url(clientDataJSON),
        attestationObject: base64url(attestation),
        transports: ['usb', 'nfc'],
      },
    };
  }

  /** `navigator.credentials.get`. */
  get(options: RequestOptions, origin: string, changes: Changes = {}) {
    const rpId = changes.rpId ?? options.rpId;
    const allowed = options.allowCredentials?.map(({ id }) => id);
    const credential = this.#credentials.findLast(
      ({ id, rpId: of }) => of === options.rpId && (allowed?.includes(base64url(id)) ?? true),
    );
    if (!credential) throw new Error('NotAllowedError');
    const authenticatorData = this.#head(rpId, 0, changes);
    const clientDataJSON = clientData(changes.type ?? 'webauthn.get', options.challenge, origin, changes);
    const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientDataJSON)]), credential.key);
    return {
      ...outer(credential),
      response: {
        clientDataJSON: base64url(clientDataJSON),
        authenticatorData: base64url(authenticatorData),
        signature: base64url(signature),
        userHandle: changes.userHandle ?? credential.userHandle,
      },
    };
  }

  #head(rpId: string, flags: number, { counter, unverified }: Changes): Buffer {
    const head = Buffer.alloc(37);
    sha256(rpId).copy(head);
    head[32] = flags | FLAG.present | (unverified ? 0 : FLAG.verified);
    if (this.#counts) head.writeUInt32BE(counter ?? ++this.#counter, 33);
    return head;
  }
}

const outer = ({ id }: Credential) => ({
  id: base64url(id),
  rawId: base64url(id),
  type: 'public-key',
  clientExtensionResults: {},
  authenticatorAttachment: 'cross-platform',
});

const clientData = (type: string, challenge: string, origin: string, { challenge: other, frame }: Changes) =>
  Buffer.from(JSON.stringify({ type, challenge: other ?? challenge, origin, crossOrigin: false, ...frame }));

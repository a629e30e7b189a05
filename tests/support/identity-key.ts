/** A key without a serial number: it makes a credential for a registry, and signs with it. Over the interface of a daemon. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { identityDataHash } from '../../daemon/devices/client-data.ts';
import { type Caller, data, freshSerial, registration } from './fleet.ts';
import { coseMap } from './test-authenticator.ts';
import { type CborInput, writeCbor } from './test-cbor.ts';

export const IDENTITY_AAGUID = '0bb43545-fd2c-4185-87dd-feb0b2916ace';

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** A challenge of a registry. */
export interface IdentityChallenge {
  readonly identityId: string;
  readonly challenge: string;
  readonly relyingParty: string;
  readonly number: string;
  readonly policy: string;
}

const as = (token?: string) => (token === undefined ? {} : { token });

export const identityChallenge = async (
  daemon: Caller,
  token?: string,
  body: object = {},
): Promise<IdentityChallenge> => data(await daemon.call('POST', '/api/identity/challenge', body, as(token)));

const hashFor = ({ relyingParty, challenge }: Pick<IdentityChallenge, 'relyingParty' | 'challenge'>) =>
  identityDataHash(relyingParty, Buffer.from(challenge, 'base64url'));

/** How the key deviates. */
interface MadeOptions {
  readonly format?: string;
  readonly flags?: number;
  readonly aaguid?: string;
  readonly signature?: Uint8Array;
}

export class IdentityKey {
  credentialId = '';
  counter = 0;
  #key: KeyObject | null = null;

  /** Makes a credential: evidence with self attestation, or with another format without one. */
  make(
    asked: IdentityChallenge,
    { format = 'packed', flags = 0x41, aaguid = IDENTITY_AAGUID, signature }: MadeOptions = {},
  ) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const { x, y } = publicKey.export({ format: 'jwk' });
    const point = Buffer.concat([Uint8Array.of(4), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]);
    const id = randomBytes(48);
    this.#key = privateKey;
    this.credentialId = base64url(id);
    const authData = Buffer.concat([
      sha256(asked.relyingParty),
      Uint8Array.of(flags, 0, 0, 0, 0),
      Buffer.from(aaguid.replaceAll('-', ''), 'hex'),
      Uint8Array.of(0, id.length),
      id,
      writeCbor(coseMap(point)),
    ]);
    const sig = signature ?? sign('sha256', Buffer.concat([authData, hashFor(asked)]), privateKey);
    const packed: [string, CborInput][] = [
      ['alg', -7],
      ['sig', sig],
    ];
    const object = writeCbor(
      new Map<number, CborInput>([
        [1, format],
        [2, authData],
        [3, new Map<string, CborInput>(format === 'none' ? [] : packed)],
      ]),
    );
    return { method: 'fido' as const, attestationObject: base64url(object) };
  }

  /** Signs with the credential. */
  sign(asked: Pick<IdentityChallenge, 'relyingParty' | 'challenge'>, touched = true) {
    return this.signHash(asked.relyingParty, hashFor(asked), touched);
  }

  /** Signs any client data hash, for example that of a receipt. */
  signHash(relyingParty: string, hash: Uint8Array, touched = true) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(++this.counter);
    const authenticatorData = Buffer.concat([sha256(relyingParty), Uint8Array.of(touched ? 1 : 0), counter]);
    const signature = sign('sha256', Buffer.concat([authenticatorData, hash]), this.#key!);
    const { credentialId } = this;
    return { credentialId, authenticatorData: base64url(authenticatorData), signature: base64url(signature) };
  }

  /** The body of a registration with a new credential. */
  async registration(daemon: Caller, more: object = {}, identity: object = {}, token?: string) {
    const asked = await identityChallenge(daemon, token);
    const made = { identityId: asked.identityId, evidence: this.make(asked), numberSource: 'printed', ...identity };
    return registration({ serialNumber: freshSerial('PR'), deviceType: 'UKEY', ...more, identity: made });
  }

  /** Registers the key as a device. */
  async enroll(daemon: Caller, more: object = {}, identity: object = {}, token?: string) {
    const body = await this.registration(daemon, more, identity, token);
    return data(await daemon.call('POST', '/api/devices/register', body, as(token)));
  }

  /** Signs for an action at a device, as a part of its body. */
  async allow(daemon: Caller, action: 'issue' | 'reset' | 'receipt', deviceId: string, touched = true, token?: string) {
    const asked = await identityChallenge(daemon, token, { for: { action, deviceId } });
    return { identity: { identityId: asked.identityId, ...this.sign(asked, touched) } };
  }

  /** Proves that it is a device; the response. */
  async prove(daemon: Caller, more: object = {}, touched = true, token?: string) {
    const asked = await identityChallenge(daemon, token);
    const body = { ...this.sign(asked, touched), ...more };
    return daemon.call('POST', `/api/identity/${asked.identityId}/prove`, body, as(token));
  }
}

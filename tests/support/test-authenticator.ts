/**
 * A FIDO authenticator: CTAP2 (getInfo, makeCredential, getAssertion with named credentials) and U2F (register, version), request
 * in, response out. No transport.
 */
import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { type CborMap, expectBytes, expectMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { type CborInput, writeCbor } from './test-cbor.ts';
import { octetString } from './test-der.ts';
import {
  basicConstraints,
  ecKeys,
  makeCertificate,
  makeRoot,
  NAME,
  pointOf,
  type TestCertificate,
  type TestExtension,
} from './test-pki.ts';

/** How the authenticator attests. `self` and `none` have no certificate. */
export type AttestationKind = 'packed' | 'fido-u2f' | 'self' | 'none';

export interface AuthenticatorOptions {
  readonly root: TestCertificate;
  /** As a UUID. */
  readonly aaguid: string;
  readonly kind?: AttestationKind;
  readonly organization?: string;
  /** Value of id-fido-gen-ce-sernum: an authenticator for enterprise attestation. */
  readonly serialOctets?: Uint8Array;
  /** AAGUID in the certificate, if it is another one; null: the extension is missing. */
  readonly certifiedAaguid?: string | null;
  /** Flags of the authenticator data instead of UP and AT. */
  readonly flags?: number;
  /** Extensions of the attestation certificate beside the usual ones. */
  readonly extensions?: readonly TestExtension[];
  /** A certificate to present; the private key stays its own. */
  readonly presented?: Uint8Array;
  readonly subject?: Readonly<Record<string, string>>;
  readonly clientPin?: boolean;
  /** Replaces values of the COSE key of the credential; null: the key is empty. */
  readonly credentialKey?: Readonly<Record<number, CborInput>> | null;
}

/** A root for authenticators. */
export const authenticatorRoot = (name = 'Test FIDO Root') => makeRoot(name);

export const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

const CTAP2 = { makeCredential: 0x01, getAssertion: 0x02, getInfo: 0x04 } as const;
const CTAP2_STATUS = { done: 0x00, unknownCommand: 0x01, missingParameter: 0x14, noCredentials: 0x2e } as const;
const DONE = Uint8Array.of(CTAP2_STATUS.done);
const COUNTER = Buffer.alloc(4);

export class TestAuthenticator {
  readonly certificate: TestCertificate;
  readonly #options: AuthenticatorOptions;
  /** Private keys by credential id and hash of the relying party. A real key keeps them in the id. */
  readonly #credentials = new Map<string, KeyObject>();
  #signatures = 0;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.certificate = makeCertificate({
      subject: options.subject ?? {
        [NAME.country]: 'SE',
        [NAME.organization]: options.organization ?? 'Test Maker',
        [NAME.unit]: 'Authenticator Attestation',
        [NAME.common]: 'Test Attestation',
      },
      issuer: options.root,
      extensions: [basicConstraints(false), ...aaguidExtensions(options), ...(options.extensions ?? [])],
    });
  }

  /** Answers CTAPHID_CBOR: command byte and CBOR in, status and CBOR out. */
  cbor(request: Uint8Array): Buffer {
    if (request[0] === CTAP2.getInfo) return Buffer.concat([DONE, this.info()]);
    if (request[0] === CTAP2.getAssertion) return this.getAssertion(request.subarray(1));
    if (request[0] !== CTAP2.makeCredential) return Buffer.from([CTAP2_STATUS.unknownCommand]);
    const parameters = expectMap(readCbor(request.subarray(1)), 'parameters');
    const rpId = expectMap(parameters.get(2), 'relying party').get('id');
    if (typeof rpId !== 'string') return Buffer.from([CTAP2_STATUS.missingParameter]);
    return Buffer.concat([DONE, this.makeCredential(rpId, expectBytes(parameters.get(1), 'client data hash'))]);
  }

  /** Forgets all credentials, as after a reset. */
  reset(): void {
    this.#credentials.clear();
  }

  #remember(id: Uint8Array, application: Uint8Array, key: KeyObject): void {
    this.#credentials.set(`${Buffer.from(id).toString('hex')} ${Buffer.from(application).toString('hex')}`, key);
  }

  /** Whether it has made a credential with this id for the relying party, and does not store it. */
  protected hasMade(id: Uint8Array, rpId: string): boolean {
    const application = createHash('sha256').update(rpId).digest('hex');
    return this.#credentials.has(`${Buffer.from(id).toString('hex')} ${application}`);
  }

  /** Status and response: credential, authenticator data, signature. With `up: false` the data do not report a touch. */
  getAssertion(request: Uint8Array): Buffer {
    const parameters = expectMap(readCbor(request), 'parameters');
    const application = createHash('sha256')
      .update(String(parameters.get(1)))
      .digest();
    const hash = expectBytes(parameters.get(2), 'client data hash');
    for (const one of parameters.get(3) as readonly never[]) {
      const id = expectBytes(expectMap(one, 'descriptor').get('id'), 'credential id');
      const key = this.#credentials.get(`${Buffer.from(id).toString('hex')} ${application.toString('hex')}`);
      if (!key) continue;
      const counter = Buffer.alloc(4);
      counter.writeUInt32BE(++this.#signatures);
      const isTouched = asksForTouch(parameters);
      const data = Buffer.concat([application, Uint8Array.of(isTouched ? 0x01 : 0x00), counter]);
      const descriptor = new Map<string, CborInput>([
        ['id', id],
        ['type', 'public-key'],
      ]);
      const answer = new Map<number, CborInput>([
        [1, descriptor],
        [2, data],
        [3, sign('sha256', Buffer.concat([data, hash]), key)],
      ]);
      return Buffer.concat([DONE, writeCbor(answer)]);
    }
    return Buffer.from([CTAP2_STATUS.noCredentials]);
  }

  /** The response to getInfo without its status. */
  info(): Buffer {
    return writeCbor(new Map([...this.infoMembers()].sort(([one], [other]) => one - other)));
  }

  protected infoMembers(): Map<number, CborInput> {
    const options = new Map<string, CborInput>([
      ['rk', true],
      ['up', true],
      ...(this.#options.serialOctets ? ([['ep', true]] as const) : []),
      ...(this.#options.clientPin === undefined ? [] : ([['clientPin', this.#options.clientPin]] as const)),
    ]);
    return new Map<number, CborInput>([
      [1, ['U2F_V2', 'FIDO_2_0']],
      [3, uuidBytes(this.#options.aaguid)],
      [4, options],
      [5, 1200],
      [14, 0x050700],
    ]);
  }

  /** The response to makeCredential without its status: keys 1 (fmt), 2 (authData) and 3 (attStmt). */
  makeCredential(rpId: string, clientDataHash: Uint8Array): Buffer {
    const { format, data, statement } = this.attest(rpId, clientDataHash);
    return writeCbor(
      new Map<number, CborInput>([
        [1, format],
        [2, data],
        [3, statement],
      ]),
    );
  }

  /** The attestation as an attestation object, with names for keys. */
  attestationObject(rpId: string, clientDataHash: Uint8Array, verified = false): Buffer {
    const { format, data, statement } = this.attest(rpId, clientDataHash, undefined, verified);
    return writeCbor(
      new Map<string, CborInput>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', data],
      ]),
    );
  }

  /** A new credential with its attestation. `extensions`: CBOR that follows the credential in the data. */
  protected attest(
    rpId: string,
    clientDataHash: Uint8Array,
    extensions: Uint8Array = Buffer.alloc(0),
    verified = false,
    credential: { readonly publicKey: KeyObject; readonly privateKey: KeyObject } = ecKeys(),
  ) {
    const { kind = 'packed', aaguid } = this.#options;
    const flags = (this.#options.flags ?? 0x41) | (verified ? 0x04 : 0) | (extensions.length > 0 ? 0x80 : 0);
    const id = randomBytes(32);
    const isEd25519 = credential.publicKey.asymmetricKeyType === 'ed25519';
    const point = isEd25519 ? Buffer.alloc(0) : pointOf(credential.publicKey);
    this.#remember(id, createHash('sha256').update(rpId).digest(), credential.privateKey);
    const data = Buffer.concat([
      createHash('sha256').update(rpId).digest(),
      Uint8Array.of(flags),
      COUNTER,
      kind === 'fido-u2f' ? Buffer.alloc(16) : uuidBytes(aaguid),
      Uint8Array.of(0, id.length),
      id,
      isEd25519 ? writeCbor(coseKeyOf(credential.publicKey)) : coseKey(point, this.#options.credentialKey),
      extensions,
    ]);
    const signed =
      kind === 'fido-u2f' ? u2fSigned(rpId, clientDataHash, id, point) : Buffer.concat([data, clientDataHash]);
    const format = kind === 'self' ? 'packed' : kind;
    return { format, data, statement: this.#statement(kind, credential.privateKey, signed), id, credential };
  }

  #statement(kind: AttestationKind, credential: KeyObject, signed: Uint8Array): Map<string, CborInput> {
    if (kind === 'none') return new Map();
    const sig = sign('sha256', signed, kind === 'self' ? credential : this.certificate.key);
    const x5c = [this.#options.presented ?? this.certificate.der];
    if (kind === 'self')
      return new Map<string, CborInput>([
        ['alg', -7],
        ['sig', sig],
      ]);
    if (kind === 'fido-u2f')
      return new Map<string, CborInput>([
        ['sig', sig],
        ['x5c', x5c],
      ]);
    return new Map<string, CborInput>([
      ['alg', -7],
      ['sig', sig],
      ['x5c', x5c],
    ]);
  }

  /** The response to U2F_AUTHENTICATE without its status word; null if it has not made the handle for the application. */
  u2fAuthenticate(challenge: Uint8Array, application: Uint8Array, handle: Uint8Array): Buffer | null {
    const name = [handle, application].map(one => Buffer.from(one).toString('hex')).join(' ');
    const key = this.#credentials.get(name);
    if (!key) return null;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(++this.#signatures);
    const head = Buffer.concat([Uint8Array.of(1), counter]);
    return Buffer.concat([head, sign('sha256', Buffer.concat([application, head, challenge]), key)]);
  }

  /** The response to U2F_REGISTER without its status word. */
  u2fRegister(challenge: Uint8Array, application: Uint8Array): Buffer {
    const credential = ecKeys();
    const point = pointOf(credential.publicKey);
    const handle = randomBytes(64);
    this.#remember(handle, application, credential.privateKey);
    const signed = Buffer.concat([Uint8Array.of(0), application, challenge, handle, point]);
    return Buffer.concat([
      Uint8Array.of(5),
      point,
      Uint8Array.of(handle.length),
      handle,
      this.#options.presented ?? this.certificate.der,
      sign('sha256', signed, this.certificate.key),
    ]);
  }
}

/** Whether getAssertion with these parameters needs a touch. */
export const asksForTouch = (parameters: CborMap): boolean => {
  const options = parameters.get(5);
  return !(options instanceof Map) || options.get('up') !== false;
};

function aaguidExtensions(options: AuthenticatorOptions): TestExtension[] {
  const aaguid = options.certifiedAaguid === undefined ? options.aaguid : options.certifiedAaguid;
  return [
    ...(aaguid === null ? [] : [{ id: '1.3.6.1.4.1.45724.1.1.4', value: octetString(uuidBytes(aaguid)) }]),
    ...(options.serialOctets ? [{ id: '1.3.6.1.4.1.45724.1.1.2', value: octetString(options.serialOctets) }] : []),
  ];
}

function u2fSigned(rpId: string, hash: Uint8Array, id: Uint8Array, point: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.of(0), createHash('sha256').update(rpId).digest(), hash, id, point]);
}

const coseKey = (point: Uint8Array, changes: AuthenticatorOptions['credentialKey']): Buffer =>
  writeCbor(changes === null ? new Map() : coseMap(point, changes));

/** A key of Ed25519 or P-256 as a COSE key. */
export const coseKeyOf = (key: KeyObject): Map<number, CborInput> =>
  key.asymmetricKeyType === 'ed25519'
    ? new Map<number, CborInput>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url')],
      ])
    : coseMap(pointOf(key));

/** A point of P-256 as a COSE key. `changes`: replaces values. */
export function coseMap(point: Uint8Array, changes?: Readonly<Record<number, CborInput>>): Map<number, CborInput> {
  const values: [number, CborInput][] = [
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, point.subarray(1, 33)],
    [-3, point.subarray(33)],
  ];
  return new Map(values.map(([label, value]) => [label, changes?.[label] ?? value]));
}

/**
 * A CTAP 2.1 authenticator with a PIN (protocols one and two), stored credentials, credential management, configuration and reset:
 * request in, response out. Written from the standard, with the checks that a real key makes; the program's code is not used for
 * the exchange of PINs.
 */
import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  timingSafeEqual,
} from 'node:crypto';
import { type Cbor, type CborMap, expectBytes, expectMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { type AuthenticatorOptions, coseKeyOf, TestAuthenticator } from './test-authenticator.ts';
import { type CborInput, writeCbor } from './test-cbor.ts';

export interface IssuableOptions extends AuthenticatorOptions {
  /** PIN protocols. Default: two and one. */
  readonly protocols?: readonly (1 | 2)[];
  /** A protocol that it lists and refuses. */
  readonly refusedProtocol?: 1 | 2;
  /** False: a key of CTAP 2.0, without permissions, configuration and credential management. */
  readonly ctap21?: boolean;
  readonly minPinLength?: number;
  /** False: it does not have U2F. */
  readonly u2f?: boolean;
  /** It demands its PIN for each credential and each signature after a touch. */
  readonly alwaysUv?: boolean;
  readonly refusesSimplePins?: boolean;
  /** Credentials that fit. Default: 25. */
  readonly room?: number;
  /** Whether it can make credentials of Ed25519. */
  readonly ed25519?: boolean;
}

/** A credential that the key stores. */
export interface StoredCredential {
  readonly id: Buffer;
  readonly rpId: string;
  readonly userId: Buffer;
  readonly userName: string;
  readonly protection: number;
  readonly privateKey: KeyObject;
}

const S = {
  ok: 0x00,
  unknownCommand: 0x01,
  invalidParameter: 0x02,
  missingParameter: 0x14,
  limitExceeded: 0x15,
  excluded: 0x19,
  unsupportedAlgorithm: 0x26,
  full: 0x28,
  invalidOption: 0x2c,
  noCredentials: 0x2e,
  notAllowed: 0x30,
  pinInvalid: 0x31,
  pinBlocked: 0x32,
  pinAuthInvalid: 0x33,
  pinAuthBlocked: 0x34,
  pinNotSet: 0x35,
  tokenRequired: 0x36,
  pinPolicy: 0x37,
  unauthorized: 0x40,
} as const;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`CTAP2 status ${status.toString(16)}`);
    this.status = status;
  }
}

/** Credentials of one list at most. */
const LIST = 8;
const RETRIES = 8;
/** Wrong entries in a row after which the key has to be plugged in again. */
const IN_A_ROW = 3;
/** Subcommands of credential management. */
const MANAGE = { metadata: 1, sites: 2, nextSite: 3, credentials: 4, nextCredential: 5, delete: 6 } as const;
const PERMISSION = { make: 1, get: 2, manage: 4, configure: 0x20 } as const;

interface Token {
  readonly bytes: Buffer;
  permissions: number;
  rpId: string | null;
}

export class IssuableAuthenticator extends TestAuthenticator {
  readonly credentials: StoredCredential[] = [];
  /** Commands and subcommands in the order in which they came, such as `06.03`. */
  readonly commands: string[] = [];
  minPinLength: number;
  forcesPinChange = false;
  retries = RETRIES;
  /** PINs that were entered: tests assert how often, and which. */
  entries = 0;
  #options: IssuableOptions;
  #pinHash: Buffer | null = null;
  #pinLength = 0;
  #wrongInARow = 0;
  #token: Token | null = null;
  #key = createECDH('prime256v1');
  /** Whether it was plugged in just now: a reset is possible. */
  #fresh = true;
  /** The answers to the next commands of an enumeration. */
  #listed: (readonly [number, CborInput][])[] = [];

  constructor(options: IssuableOptions) {
    super(options);
    this.#options = options;
    this.minPinLength = options.minPinLength ?? 4;
    this.#key.generateKeys();
  }

  get hasPin(): boolean {
    return this.#pinHash !== null;
  }

  /** Another program sets the PIN. */
  givePin(pin: string): void {
    this.#pinHash = hashOf(Buffer.from(pin));
  }

  /** Whether this is the PIN. */
  isPin(pin: string): boolean {
    return this.#pinHash !== null && timingSafeEqual(this.#pinHash, hashOf(Buffer.from(pin)));
  }

  /** Unplugs it and plugs it in again. */
  replug(): void {
    this.#fresh = true;
    this.#wrongInARow = 0;
    this.#token = null;
    this.#key.generateKeys();
  }

  /** Ten seconds have passed since it was plugged in. */
  age(): void {
    this.#fresh = false;
  }

  override cbor(request: Uint8Array): Buffer {
    const command = request[0]!;
    try {
      if (command === 0x04) return Buffer.concat([Buffer.of(S.ok), this.info()]);
      const parameters = request.length > 1 ? expectMap(readCbor(request.subarray(1)), 'parameters') : new Map();
      this.commands.push(nameOf(command, parameters));
      if (command === 0x02 && !this.#isForStored(parameters)) return this.getAssertion(request.subarray(1));
      return Buffer.concat([Buffer.of(S.ok), this.#answer(command, parameters)]);
    } catch (error) {
      if (error instanceof Refusal) return Buffer.of(error.status);
      throw error;
    }
  }

  #answer(command: number, parameters: CborMap): Buffer {
    if (command === 0x01) return this.#make(parameters);
    if (command === 0x02) return this.#assert(parameters);
    if (command === 0x06) return this.#clientPin(parameters);
    if (command === 0x07) return this.#reset();
    // 0x41: the number that keys had before the standard, which libfido2 sends to this day.
    if ((command === 0x0a || command === 0x41) && this.#isCtap21) return this.#manage(parameters);
    if (command === 0x0d && this.#isCtap21) return this.#configure(parameters);
    throw new Refusal(S.unknownCommand);
  }

  get #isCtap21(): boolean {
    return this.#options.ctap21 !== false;
  }

  protected override infoMembers(): Map<number, CborInput> {
    const members = super.infoMembers();
    const options = new Map(members.get(4) as ReadonlyMap<string, CborInput>);
    options.set('clientPin', this.hasPin);
    if (this.#options.alwaysUv) options.set('alwaysUv', true);
    const versions = this.#isCtap21 ? ['FIDO_2_0', 'FIDO_2_1'] : ['FIDO_2_0'];
    members.set(1, this.#options.u2f === false ? versions : ['U2F_V2', ...versions]);
    members.set(2, ['credProtect', 'hmac-secret']);
    members.set(6, this.#options.protocols ?? [2, 1]);
    members.set(7, LIST);
    if (this.#options.refusesSimplePins) members.set(0x1b, true);
    if (this.#isCtap21) {
      for (const name of ['credMgmt', 'authnrCfg', 'setMinPINLength', 'pinUvAuthToken', 'makeCredUvNotRqd'])
        options.set(name, true);
      members.set(0x0c, this.forcesPinChange);
      members.set(0x0d, this.minPinLength);
      members.set(0x14, (this.#options.room ?? 25) - this.credentials.length);
    }
    // The canonical order of CTAP2: libfido2 reads no other.
    return members.set(4, new Map([...options].sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))));
  }

  /** Credentials that are not stored are asked for by their ids, with a touch and without a PIN. */
  #isForStored(parameters: CborMap): boolean {
    const ids = idsOf(parameters.get(3));
    if (ids.some(id => this.hasMade(id, String(parameters.get(1))) && !this.credentials.some(one => one.id.equals(id))))
      return false;
    return parameters.has(5) || ids.length === 0 || this.credentials.some(one => ids.some(id => id.equals(one.id)));
  }

  /** getAssertion by a stored credential; `up: false` asks only whether the key has it. Those of protection 3 need the PIN. */
  #assert(parameters: CborMap): Buffer {
    const rp = parameters.get(1);
    const options = parameters.get(5) instanceof Map ? expectMap(parameters.get(5), 'options') : new Map();
    const hash = expectBytes(parameters.get(2), 'client data hash');
    const auth = parameters.get(6);
    if (auth !== undefined) this.#demand(PERMISSION.get, parameters.get(7), auth, Buffer.from(hash), String(rp));
    if (options.get('uv') === true) throw new Refusal(S.invalidOption);
    const ids = this.#fitting(parameters.get(3));
    const found = this.credentials.find(
      one =>
        one.rpId === rp &&
        (ids.length === 0 ? one.protection < 2 || auth !== undefined : ids.some(id => id.equals(one.id))),
    );
    if (!found || (found.protection === 3 && auth === undefined)) throw new Refusal(S.noCredentials);
    const isTouched = options.get('up') !== false;
    const flags = (isTouched ? 1 : 0) | (auth === undefined ? 0 : 4);
    if (this.#token && isTouched && this.#isCtap21) this.#token.permissions = 0;
    const { data, signature } = this.assertion(found.id, hash, flags);
    return members([1, descriptorOf(found)], [2, data], [3, signature], [4, new Map([['id', found.userId]])]);
  }

  #fitting(list: Cbor | undefined): Buffer[] {
    const ids = idsOf(list);
    if (ids.length > LIST) throw new Refusal(S.limitExceeded);
    return ids;
  }

  #make(parameters: CborMap): Buffer {
    const rp = expectMap(parameters.get(2), 'relying party').get('id');
    const hash = parameters.get(1);
    if (typeof rp !== 'string' || !(hash instanceof Uint8Array)) throw new Refusal(S.missingParameter);
    const stored = parameters.get(7) instanceof Map && expectMap(parameters.get(7), 'options').get('rk') === true;
    const auth = parameters.get(8);
    const verified = auth !== undefined;
    if (verified) this.#demand(PERMISSION.make, parameters.get(9), auth, Buffer.from(hash), rp);
    else if (this.#options.alwaysUv || (this.hasPin && (stored || !this.#isCtap21))) throw new Refusal(S.tokenRequired);
    const algorithms = parameters.get(4) as readonly CborMap[];
    const known = this.#options.ed25519 ? [-7, -8] : [-7];
    const algorithm = algorithms.map(one => one.get('alg') as number).find(one => known.includes(one));
    if (algorithm === undefined) throw new Refusal(S.unsupportedAlgorithm);
    for (const id of this.#fitting(parameters.get(5)))
      if (this.credentials.some(one => one.rpId === rp && one.id.equals(id))) throw new Refusal(S.excluded);
    if (stored && this.credentials.length >= (this.#options.room ?? 25)) throw new Refusal(S.full);
    const extensions = parameters.get(6);
    const protection = extensions instanceof Map ? ((extensions.get('credProtect') as number) ?? 1) : 1;
    const out = protection > 1 ? writeCbor(new Map([['credProtect', protection]])) : Buffer.alloc(0);
    const made = this.attest(rp, hash, out, verified, algorithm === -8 ? generateKeyPairSync('ed25519') : undefined);
    if (stored) this.#store(rp, expectMap(parameters.get(3), 'user'), protection, made);
    // A touch uses up the permissions of a token.
    if (this.#token && this.#isCtap21) this.#token.permissions = 0;
    const members: [number, CborInput][] = [
      [1, made.format],
      [2, made.data],
      [3, made.statement],
    ];
    if (parameters.get(10) !== undefined) members.push([4, true]);
    return writeCbor(new Map(members));
  }

  #store(rpId: string, user: CborMap, protection: number, made: ReturnType<TestAuthenticator['attest']>): void {
    const userId = Buffer.from(expectBytes(user.get('id'), 'user id'));
    const before = this.credentials.findIndex(one => one.rpId === rpId && one.userId.equals(userId));
    if (before >= 0) this.credentials.splice(before, 1);
    const { privateKey } = made.credential;
    this.credentials.push({ id: made.id, rpId, userId, userName: String(user.get('name')), protection, privateKey });
  }

  /** An assertion by a stored credential, as a browser gets it: authenticator data and signature. */
  assertion(credentialId: Uint8Array, clientDataHash: Uint8Array, flags = 0x05): { data: Buffer; signature: Buffer } {
    const credential = this.credentials.find(one => one.id.equals(credentialId));
    if (credential === undefined) throw new Error('the key does not have this credential');
    const rpIdHash = createHash('sha256').update(credential.rpId).digest();
    const data = Buffer.concat([rpIdHash, Buffer.of(flags, 0, 0, 0, 1)]);
    const hash = credential.privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
    return { data, signature: sign(hash, Buffer.concat([data, clientDataHash]), credential.privateKey) };
  }

  #clientPin(parameters: CborMap): Buffer {
    const subcommand = parameters.get(2);
    if (subcommand === 1)
      return writeCbor(
        new Map<number, CborInput>([
          [3, this.retries],
          [4, this.#wrongInARow >= IN_A_ROW],
        ]),
      );
    const protocol = this.#protocolOf(parameters.get(1));
    if (subcommand === 2) return writeCbor(new Map([[1, this.#ownKey()]]));
    if (subcommand === 3) return this.#setPin(protocol, parameters);
    if (subcommand === 4) return this.#changePin(protocol, parameters);
    if (subcommand === 5) return this.#giveToken(protocol, parameters, PERMISSION.make | PERMISSION.get, null);
    if (subcommand === 9 && this.#isCtap21) {
      const rpId = parameters.get(10);
      const permissions = parameters.get(9);
      if (typeof permissions !== 'number' || permissions === 0) throw new Refusal(S.invalidParameter);
      if (permissions & (PERMISSION.make | PERMISSION.get) && typeof rpId !== 'string')
        throw new Refusal(S.missingParameter);
      return this.#giveToken(protocol, parameters, permissions, typeof rpId === 'string' ? rpId : null);
    }
    throw new Refusal(S.invalidParameter);
  }

  #protocolOf(value: Cbor | undefined): 1 | 2 {
    if (value === this.#options.refusedProtocol) throw new Refusal(S.invalidParameter);
    if ((value === 1 || value === 2) && (this.#options.protocols ?? [2, 1]).includes(value)) return value;
    throw new Refusal(S.invalidParameter);
  }

  #ownKey(): CborInput {
    const point = this.#key.getPublicKey();
    return new Map<number, CborInput>([
      [1, 2],
      [3, -25],
      [-1, 1],
      [-2, point.subarray(1, 33)],
      [-3, point.subarray(33)],
    ]);
  }

  #setPin(protocol: 1 | 2, parameters: CborMap): Buffer {
    if (this.hasPin) throw new Refusal(S.pinAuthInvalid);
    const secret = this.#agree(protocol, parameters);
    const encrypted = Buffer.from(expectBytes(parameters.get(5), 'new PIN'));
    if (!matches(secret.mac(encrypted), parameters.get(4))) throw new Refusal(S.pinAuthInvalid);
    return this.#keepPin(secret.decrypt(encrypted));
  }

  #changePin(protocol: 1 | 2, parameters: CborMap): Buffer {
    this.#demandUsablePin();
    const secret = this.#agree(protocol, parameters);
    const encrypted = Buffer.from(expectBytes(parameters.get(5), 'new PIN'));
    const present = Buffer.from(expectBytes(parameters.get(6), 'PIN hash'));
    if (!matches(secret.mac(Buffer.concat([encrypted, present])), parameters.get(4)))
      throw new Refusal(S.pinAuthInvalid);
    this.#enter(secret.decrypt(present));
    const pin = secret.decrypt(encrypted);
    if (this.forcesPinChange && this.isPin(textOf(pin))) throw new Refusal(S.pinPolicy);
    this.#keepPin(pin);
    this.forcesPinChange = false;
    this.#token = null;
    return Buffer.alloc(0);
  }

  /** `padded`: a PIN and zeros. */
  #keepPin(padded: Buffer): Buffer {
    if (padded.length !== 64) throw new Refusal(S.invalidParameter);
    const pin = textOf(padded);
    if ([...pin].length < this.minPinLength) throw new Refusal(S.pinPolicy);
    this.#pinHash = hashOf(Buffer.from(pin));
    this.#pinLength = [...pin].length;
    this.retries = RETRIES;
    return Buffer.alloc(0);
  }

  #demandUsablePin(): void {
    if (this.#pinHash === null) throw new Refusal(S.pinNotSet);
    if (this.retries === 0) throw new Refusal(S.pinBlocked);
    if (this.#wrongInARow >= IN_A_ROW) throw new Refusal(S.pinAuthBlocked);
  }

  #enter(hash: Buffer): void {
    this.entries += 1;
    this.retries -= 1;
    if (!hash.equals(this.#pinHash!)) {
      this.#key.generateKeys();
      this.#wrongInARow += 1;
      throw new Refusal(
        this.retries === 0 ? S.pinBlocked : this.#wrongInARow >= IN_A_ROW ? S.pinAuthBlocked : S.pinInvalid,
      );
    }
    this.retries = RETRIES;
    this.#wrongInARow = 0;
  }

  #giveToken(protocol: 1 | 2, parameters: CborMap, permissions: number, rpId: string | null): Buffer {
    this.#demandUsablePin();
    const secret = this.#agree(protocol, parameters);
    this.#enter(secret.decrypt(Buffer.from(expectBytes(parameters.get(6), 'PIN hash'))));
    if (this.forcesPinChange) throw new Refusal(S.pinPolicy);
    this.#token = { bytes: randomBytes(32), permissions, rpId };
    return members([2, secret.encrypt(this.#token.bytes)]);
  }

  #demand(
    permission: number,
    protocol: Cbor | undefined,
    auth: Cbor | undefined,
    message: Buffer,
    rpId: string | null,
  ): void {
    if (auth === undefined) throw new Refusal(S.tokenRequired);
    const version = this.#protocolOf(protocol);
    const token = this.#token;
    if (token === null) throw new Refusal(S.pinAuthInvalid);
    const mac = createHmac('sha256', token.bytes).update(message).digest();
    if (!matches(version === 1 ? mac.subarray(0, 16) : mac, auth)) throw new Refusal(S.pinAuthInvalid);
    if ((token.permissions & permission) === 0) throw new Refusal(S.pinAuthInvalid);
    if (rpId !== null && token.rpId !== null && token.rpId !== rpId) throw new Refusal(S.pinAuthInvalid);
    if (rpId !== null) token.rpId = rpId;
  }

  #configure(parameters: CborMap): Buffer {
    if (parameters.get(1) !== 3) throw new Refusal(S.invalidParameter);
    const rules = expectMap(parameters.get(2), 'subcommand parameters');
    const message = Buffer.concat([Buffer.alloc(32, 0xff), Buffer.of(0x0d, 3), encoded(rules)]);
    if (this.hasPin) this.#demand(PERMISSION.configure, parameters.get(3), parameters.get(4), message, null);
    const least = rules.get(1);
    if (typeof least === 'number') {
      if (least < this.minPinLength) throw new Refusal(S.pinPolicy);
      this.minPinLength = least;
      // A PIN that is shorter has to be changed (6.11.4).
      if (this.#pinLength < least) this.forcesPinChange = true;
    }
    if (rules.get(3) === true) this.forcesPinChange = true;
    return Buffer.alloc(0);
  }

  #manage(parameters: CborMap): Buffer {
    const subcommand = parameters.get(1);
    if (subcommand === MANAGE.nextSite || subcommand === MANAGE.nextCredential) return this.#next();
    const which = parameters.get(2) === undefined ? null : expectMap(parameters.get(2), 'subcommand parameters');
    const message = Buffer.concat([Buffer.of(Number(subcommand)), which ? encoded(which) : Buffer.alloc(0)]);
    this.#demand(PERMISSION.manage, parameters.get(3), parameters.get(4), message, null);
    if (subcommand === MANAGE.metadata)
      return members([1, this.credentials.length], [2, (this.#options.room ?? 25) - this.credentials.length]);
    if (subcommand === MANAGE.sites) return this.#listSites();
    if (subcommand === MANAGE.credentials) return this.#listCredentials(expectBytes(which?.get(1), 'hash of a site'));
    if (subcommand !== MANAGE.delete) throw new Refusal(S.invalidParameter);
    const id = Buffer.from(expectBytes(expectMap(which?.get(2), 'credential').get('id'), 'id'));
    const at = this.credentials.findIndex(one => one.id.equals(id));
    if (at < 0) throw new Refusal(S.noCredentials);
    this.credentials.splice(at, 1);
    return Buffer.alloc(0);
  }

  #listSites(): Buffer {
    const sites = [...new Set(this.credentials.map(({ rpId }) => rpId))];
    return this.#list(
      5,
      sites.map(id => [
        [3, new Map([['id', id]])],
        [4, sha256(id)],
      ]),
    );
  }

  #listCredentials(site: Uint8Array): Buffer {
    const found = this.credentials.filter(({ rpId }) => sha256(rpId).equals(site));
    return this.#list(
      9,
      found.map(one => [
        [6, new Map<string, CborInput>(Object.entries({ id: one.userId, name: one.userName }))],
        [7, descriptorOf(one)],
        [8, coseKeyOf(createPublicKey(one.privateKey))],
        [10, one.protection],
      ]),
    );
  }

  /** The first one, with the number of all. */
  #list(total: number, items: (readonly [number, CborInput][])[]): Buffer {
    const [first, ...others] = items;
    if (!first) throw new Refusal(S.noCredentials);
    this.#listed = others;
    return members(...first, [total, items.length]);
  }

  #next(): Buffer {
    const next = this.#listed.shift();
    if (!next) throw new Refusal(S.notAllowed);
    return members(...next);
  }

  #reset(): Buffer {
    if (!this.#fresh) throw new Refusal(S.notAllowed);
    this.reset();
    this.credentials.length = 0;
    this.#pinHash = null;
    this.#token = null;
    this.retries = RETRIES;
    this.forcesPinChange = false;
    this.minPinLength = this.#options.minPinLength ?? 4;
    return Buffer.alloc(0);
  }

  #agree(protocol: 1 | 2, parameters: CborMap) {
    const theirs = expectMap(parameters.get(3), 'key agreement');
    const [x, y] = [-2, -3].map(label => Buffer.from(expectBytes(theirs.get(label), 'coordinate')));
    const z = this.#key.computeSecret(Buffer.concat([Buffer.of(4), x!, y!]));
    const one = createHash('sha256').update(z).digest();
    const two = (use: string) => Buffer.from(hkdfSync('sha256', z, Buffer.alloc(32), use, 32));
    const [macKey, cipherKey] = protocol === 1 ? [one, one] : [two('CTAP2 HMAC key'), two('CTAP2 AES key')];
    const start = protocol === 1 ? 0 : 16;
    const ivOf = (bytes: Buffer) => (protocol === 1 ? Buffer.alloc(16) : bytes.subarray(0, 16));
    return {
      mac: (message: Buffer) => {
        const mac = createHmac('sha256', macKey).update(message).digest();
        return protocol === 1 ? mac.subarray(0, 16) : mac;
      },
      decrypt: (bytes: Buffer) => {
        const decipher = createDecipheriv('aes-256-cbc', cipherKey, ivOf(bytes)).setAutoPadding(false);
        return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]);
      },
      encrypt: (bytes: Buffer) => {
        const iv = protocol === 1 ? Buffer.alloc(16) : randomBytes(16);
        const cipher = createCipheriv('aes-256-cbc', cipherKey, iv).setAutoPadding(false);
        return Buffer.concat([...(protocol === 1 ? [] : [iv]), cipher.update(bytes), cipher.final()]);
      },
    };
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
/** A response, in the canonical order of its members. */
const members = (...list: readonly (readonly [number, CborInput])[]): Buffer =>
  writeCbor(new Map([...list].sort(([one], [other]) => one - other)));
const descriptorOf = ({ id }: StoredCredential): CborInput =>
  new Map<string, CborInput>(Object.entries({ id, type: 'public-key' }));
/** A PIN without the zeros after it. */
const textOf = (padded: Buffer): string => padded.subarray(0, padded.indexOf(0)).toString();
const hashOf = (pin: Uint8Array): Buffer => createHash('sha256').update(pin).digest().subarray(0, 16);
const encoded = (value: Cbor): Buffer => writeCbor(value as CborInput);

function matches(expected: Buffer, given: Cbor | undefined): boolean {
  return given instanceof Uint8Array && given.length === expected.length && timingSafeEqual(expected, given);
}

const idsOf = (list: Cbor | undefined): Buffer[] =>
  Array.isArray(list) ? list.map(one => Buffer.from(expectBytes(expectMap(one, 'descriptor').get('id'), 'id'))) : [];

function nameOf(command: number, parameters: CborMap): string {
  const hex = (value: number) => value.toString(16).padStart(2, '0');
  const subcommand = command === 0x06 ? parameters.get(2) : command === 0x01 ? undefined : parameters.get(1);
  return typeof subcommand === 'number' ? `${hex(command)}.${hex(subcommand)}` : hex(command);
}

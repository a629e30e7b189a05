/** A card with a GlobalPlatform issuer security domain that answers SCP11b: APDU in, APDU out. No transport. */
import { createCipheriv, createECDH, createHash } from 'node:crypto';
import { received } from './received-commands.ts';
import { integer, octetString, oid, sequence } from './test-der.ts';
import {
  basicConstraints,
  keyUsage,
  makeCa,
  makeCertificate,
  makeRoot,
  NAME,
  pointOf,
  scalarOf,
  type TestCertificate,
  type TestExtension,
} from './test-pki.ts';

export interface CardOptions {
  readonly serialNumber: number;
  readonly firmware: readonly [number, number, number];
  readonly formFactor: number;
  readonly root: TestCertificate;
  /** Version of the key of SCP11b; 1 if absent. */
  readonly kvn?: number;
  /** Replaces the extensions of the leaf. */
  readonly extensions?: readonly TestExtension[];
  /** Replaces the extensions of the CA that issues the leaf. */
  readonly caExtensions?: readonly TestExtension[];
  /** The chain to present instead of its own, leaf last; the private key stays its own. */
  readonly chain?: readonly Uint8Array[];
}

/** Certificate policies of GlobalPlatform by their last number. */
const policies = (...numbers: readonly number[]): TestExtension => ({
  id: '2.5.29.32',
  critical: true,
  value: sequence(...numbers.map(number => sequence(oid(`1.2.840.114283.100.0.10.2.1.${number}`)))),
});
const firmwareOf = ({ firmware }: CardOptions): TestExtension => ({
  id: '1.3.6.1.4.1.41482.7.1',
  value: octetString(Uint8Array.from(firmware)),
});

/** Extensions of a leaf as a retail YubiKey 5.7.4 has them (a trace in PeculiarVentures/scp, docs/traces). */
export const cardExtensions = (options: CardOptions): TestExtension[] => [
  keyUsage(4),
  policies(10),
  firmwareOf(options),
  { id: '1.3.6.1.4.1.41482.7.2', value: integer(options.serialNumber) },
  { id: '1.3.6.1.4.1.41482.7.4', value: octetString(Uint8Array.of(options.formFactor)) },
  { id: '1.3.6.1.4.1.41482.7.3', value: integer(1) },
];

/** Extensions of the CA on such a card. */
export const cardCaExtensions = (options: CardOptions): TestExtension[] => [
  firmwareOf(options),
  basicConstraints(true, 0),
  keyUsage(5),
  policies(50, 10),
];

/** A root for cards. */
export const cardRoot = () => makeRoot('Test Attestation Root');

const STATUS = { done: 0x9000, wrongData: 0x6a80, notFound: 0x6a82, noData: 0x6a88, unknown: 0x6d00 } as const;
const SECURITY_DOMAIN = Buffer.from('a000000151000000', 'hex');
const AGREEMENT = Buffer.from('a60d9002110095013c8001888101105f4941', 'hex');
const KID = 0x13;

export class TestScp11bCard {
  readonly chain: readonly Uint8Array[];
  /** Every command that the card received, in hex: tests assert what was never sent. */
  readonly commands: string[] = [];
  readonly #leaf: TestCertificate;
  readonly #kvn: number;
  #selected = false;
  #rest: Buffer = Buffer.alloc(0);

  constructor(options: CardOptions) {
    this.#kvn = options.kvn ?? 1;
    const ca = makeCa('Test Card CA', options.root, { extensions: options.caExtensions ?? cardCaExtensions(options) });
    this.#leaf = makeCertificate({
      subject: { [NAME.common]: 'Test Card' },
      issuer: ca,
      extensions: options.extensions ?? cardExtensions(options),
    });
    this.chain = options.chain ?? [ca.der, this.#leaf.der];
  }

  /** Answers one command, with its status word. */
  answer(command: Uint8Array): Buffer {
    received.apdu(command);
    this.commands.push(Buffer.from(command).toString('hex'));
    const [, ins, p1, p2] = command;
    const data = Buffer.from(command.subarray(5, 5 + (command[4] ?? 0)));
    if (ins === 0xc0) return this.#next();
    if (ins === 0xa4) return this.#select(data);
    if (!this.#selected) return status(STATUS.notFound);
    if (ins === 0xca && p1 === 0 && p2 === 0xe0) return this.#long(keyInformation(this.#kvn));
    if (ins === 0xca && p1 === 0xbf && p2 === 0x21) return this.#certificates(data);
    if (ins === 0x88) return this.#authenticate(p1!, p2!, data);
    return status(STATUS.unknown);
  }

  #select(data: Buffer): Buffer {
    this.#selected = data.equals(SECURITY_DOMAIN);
    return status(this.#selected ? STATUS.done : STATUS.notFound);
  }

  #certificates(data: Buffer): Buffer {
    if (!data.equals(Buffer.from([0xa6, 4, 0x83, 2, KID, this.#kvn]))) return status(STATUS.noData);
    return this.#long(tlv([0xbf, 0x21], Buffer.concat(this.chain)));
  }

  #authenticate(kvn: number, kid: number, data: Buffer): Buffer {
    const host = data.subarray(AGREEMENT.length);
    if (kvn !== this.#kvn || kid !== KID) return status(STATUS.noData);
    if (!data.subarray(0, AGREEMENT.length).equals(AGREEMENT) || host.length !== 65) return status(STATUS.wrongData);
    const { cardPublicKey, receipt } = this.agree(host);
    return this.#long(Buffer.concat([tlv([0x5f, 0x49], cardPublicKey), tlv([0x86], receipt)]));
  }

  /** The key agreement itself: what the card adds to evidence. */
  agree(host: Uint8Array): { cardPublicKey: Buffer; receipt: Buffer } {
    const ephemeral = createECDH('prime256v1');
    const cardPublicKey = ephemeral.generateKeys();
    const fixed = createECDH('prime256v1');
    fixed.setPrivateKey(scalarOf(this.#leaf.key));
    const secret = Buffer.concat([ephemeral.computeSecret(host), fixed.computeSecret(host)]);
    const key = createHash('sha256')
      .update(secret)
      .update(Buffer.from('000000013c8810', 'hex'))
      .digest()
      .subarray(0, 16);
    const data = Buffer.concat([AGREEMENT, host, tlv([0x5f, 0x49], cardPublicKey)]);
    return { cardPublicKey, receipt: cmac(key, data) };
  }

  /** Evidence for the contract: what a transport makes of the answers. `host` is the ephemeral key of the challenge. */
  evidence(host: string): object {
    const { cardPublicKey, receipt } = this.agree(Buffer.from(host, 'base64url'));
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
    const chain = this.chain.map(text);
    return { method: 'scp11b', kvn: this.#kvn, chain, cardPublicKey: text(cardPublicKey), receipt: text(receipt) };
  }

  /** The pair of its certificate, for another certificate. */
  get keys() {
    return { privateKey: this.#leaf.key, publicKey: this.#leaf.publicKey };
  }

  /** The point of the certificate that the card was made with. */
  get staticPoint(): Buffer {
    return pointOf(this.#leaf.publicKey);
  }

  /** Up to 256 bytes; the rest is fetched with GET RESPONSE. */
  #long(response: Buffer): Buffer {
    this.#rest = response;
    return this.#next();
  }

  #next(): Buffer {
    const part = this.#rest.subarray(0, 256);
    this.#rest = this.#rest.subarray(256);
    const left = Math.min(this.#rest.length, 256);
    return Buffer.concat([part, status(left === 0 ? STATUS.done : 0x6100 | (left & 0xff))]);
  }
}

const status = (word: number): Buffer => Buffer.from([word >> 8, word & 0xff]);

/** Key information: one C0 for each key, with its KID, KVN and type. */
function keyInformation(kvn: number): Buffer {
  return tlv(
    [0xe0],
    Buffer.concat([
      tlv([0xc0], Buffer.from([0x01, 0xff, 0x88, 0x10])),
      tlv([0xc0], Buffer.from([KID, kvn, 0xb0, 0x20])),
    ]),
  );
}

function tlv(tag: readonly number[], value: Uint8Array): Buffer {
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Uint8Array.from([...tag, ...size]), value]);
}

/** AES-CMAC, written apart from the judge's on purpose: bit by bit as in RFC 4493. */
function cmac(key: Uint8Array, message: Uint8Array): Buffer {
  const aes = (block: Uint8Array) => createCipheriv('aes-128-ecb', key, null).setAutoPadding(false).update(block);
  const shift = (block: bigint) => ((block << 1n) & ((1n << 128n) - 1n)) ^ (block >> 127n ? 0x87n : 0n);
  const number = (block: Uint8Array) => BigInt(`0x${Buffer.from(block).toString('hex')}`);
  const block = (value: bigint) => Buffer.from(value.toString(16).padStart(32, '0'), 'hex');
  const k1 = shift(number(aes(Buffer.alloc(16))));
  const whole = message.length > 0 && message.length % 16 === 0;
  const padding = whole
    ? Buffer.alloc(0)
    : Buffer.concat([Uint8Array.of(0x80), Buffer.alloc(15 - (message.length % 16))]);
  const padded = Buffer.concat([message, padding]);
  let chain = 0n;
  for (let at = 0; at < padded.length; at += 16) {
    const last = at + 16 === padded.length;
    const mask = last ? (whole ? k1 : shift(k1)) : 0n;
    chain = number(aes(block(chain ^ number(padded.subarray(at, at + 16)) ^ mask)));
  }
  return block(chain);
}

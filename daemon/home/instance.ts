/** The key by which clients recognize this registry: an Ed25519 key that is created once in the home. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { provenText } from '../../src/contract/local.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { Home } from './home.ts';

/** A statement of the instance about itself, as `/api/health` returns it for a nonce. */
export interface InstanceProof {
  readonly instanceId: string;
  /** SubjectPublicKeyInfo (DER) in base64url. */
  readonly publicKey: string;
  /** The address at which the request arrived. */
  readonly address: string;
  /** Ed25519 over `provenText`, in base64url. */
  readonly signature: string;
}

/** The identity of a registry. */
export class Instance {
  /** The first 128 bits of the SHA-256 of the public key, in hex. */
  readonly id: string;
  readonly #publicKey: string;
  readonly #key: KeyObject;

  private constructor(key: KeyObject) {
    const der = createPublicKey(key).export({ format: 'der', type: 'spki' });
    this.#key = key;
    this.#publicKey = der.toString('base64url');
    this.id = createHash('sha256').update(der).digest('hex').slice(0, 32);
  }

  /** Reads the key of the home; creates it if there is none. Refuses with `StartRefused` a file that is damaged or open to others. */
  static async open(home: Home): Promise<Instance> {
    const stored = await Instance.existing(home);
    if (stored) return stored;
    const { privateKey } = generateKeyPairSync('ed25519');
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    // Another node may create it at the same time.
    await home.createSecret('instanceKey', `${der.toString('base64url')}\n`);
    return (await Instance.existing(home))!;
  }

  /** Like `open`, but creates nothing: null if there is no key. */
  static async existing(home: Home): Promise<Instance | null> {
    const stored = await home.readSecret('instanceKey');
    return stored === null ? null : new Instance(parseKey(stored, home.path('instanceKey')));
  }

  /** A secret for a purpose, 32 bytes: the same on all nodes, for as long as the key lasts. */
  secret(purpose: string): Uint8Array {
    const key = this.#key.export({ format: 'der', type: 'pkcs8' });
    return new Uint8Array(hkdfSync('sha256', key, '', `devmgr ${purpose}`, 32));
  }

  /**
   * Signs a client's nonce together with the address at which the request arrived: another program that passes the nonce on has
   * another address. Takes about 50 µs.
   */
  prove(nonce: string, address: string): InstanceProof {
    const { id: instanceId } = this;
    const signature = sign(null, Buffer.from(provenText({ instanceId, nonce, address })), this.#key);
    return { instanceId, publicKey: this.#publicKey, address, signature: signature.toString('base64url') };
  }
}

function parseKey(text: string, file: string): KeyObject {
  try {
    const key = createPrivateKey({ key: Buffer.from(text.trim(), 'base64url'), format: 'der', type: 'pkcs8' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported below, like a key of another kind.
  }
  throw new StartRefused(
    1,
    `${file} is damaged`,
    'restore it, or remove it: clients must then accept the server with devmgr login --accept-new-server',
  );
}

/** A key that is proved by FIDO and signs receipts, over the interface of a daemon. */
import { clientDataHash, RELYING_PARTY, relyingPartyHash } from '../../daemon/devices/client-data.ts';
import { readCbor } from '../../drivers/protocols/cbor.ts';
import { receiptHash } from '../../src/contract/receipts/check.ts';
import type { Receipt } from '../../src/contract/receipts.ts';
import { ANSWERING_AAGUID, type Challenged } from './challenged.ts';
import { type Caller, data, deviceIn, form } from './fleet.ts';
import { type AuthenticatorOptions, authenticatorRoot, TestAuthenticator } from './test-authenticator.ts';
import { writeCbor } from './test-cbor.ts';

const base64url = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString('base64url');
const root = authenticatorRoot('Test root of receipts');
export const terms = 'The key stays the property of Example Ltd.';

interface Made {
  readonly receiptId: string;
  readonly challenge: string;
  readonly text: string;
  readonly credentials: readonly string[];
}

/** Has a daemon trust these keys. */
export async function trustReceiptKeys(daemon: Caller, of = root, aaguids = ANSWERING_AAGUID): Promise<void> {
  const fields = { purpose: 'fido', label: 'Test FIDO', ...(aaguids && { aaguids }) };
  const raw = form(fields, { name: 'root.der', content: new Uint8Array(of.der) });
  data(await daemon.call('POST', '/api/trust', undefined, { raw }));
}

export class ReceiptKey {
  readonly authenticator: TestAuthenticator;

  constructor(options: Partial<AuthenticatorOptions> = {}) {
    const maker = options.serialOctets ? { organization: 'Yubico AB' } : {};
    this.authenticator = new TestAuthenticator({ root, aaguid: ANSWERING_AAGUID, ...maker, ...options });
  }

  /** Proves the key, so that it has a credential. */
  async prove(daemon: Caller, serialNumber: string, { token, u2f = false }: { token?: string; u2f?: boolean } = {}) {
    const as = token === undefined ? {} : { token };
    const asked: Challenged = data(await daemon.call('POST', '/api/proofs/challenge', {}, as));
    const hash = clientDataHash(asked.registryId, serialNumber, Buffer.from(asked.challenge, 'base64url'));
    const object = this.authenticator.attestationObject(RELYING_PARTY, hash);
    const evidence = u2f
      ? { method: 'u2f', registration: base64url(this.authenticator.u2fRegister(hash, relyingPartyHash())) }
      : { method: 'fido', attestationObject: base64url(object) };
    const body = { serialNumber, claims: {}, evidence, forReceipt: true };
    return data(await daemon.call('POST', `/api/proofs/${asked.proofId}`, body, as)).proof;
  }

  /** The signature of the key for a text; null if it has none of the credentials. */
  sign(text: string, credentials: readonly string[]) {
    const list = credentials.map(
      id =>
        new Map<string, string | Uint8Array>([
          ['id', Buffer.from(id, 'base64url')],
          ['type', 'public-key'],
        ]),
    );
    const request = writeCbor(
      new Map<number, never>([
        [1, RELYING_PARTY],
        [2, receiptHash(text)],
        [3, list],
      ] as never),
    );
    const answer = this.authenticator.cbor(Buffer.concat([Uint8Array.of(2), request]));
    if (answer[0] !== 0) return null;
    const map = readCbor(answer.subarray(1)) as ReadonlyMap<number, never>;
    return {
      credentialId: base64url((map.get(1) as unknown as ReadonlyMap<string, Uint8Array>).get('id')),
      authenticatorData: base64url(map.get(2)),
      signature: base64url(map.get(3)),
    };
  }
}

/** The request for a receipt. */
interface Wanted {
  readonly deviceId: string;
  readonly kind?: string;
  readonly dueAt?: string;
  readonly terms?: string;
}

/** A receipt that the key has signed, as it is submitted. */
export async function signedBy(daemon: Caller, key: ReceiptKey, wanted: Wanted, token?: string) {
  const as = token === undefined ? {} : { token };
  const body = { kind: 'handover', terms, ...wanted };
  const made: Made = data(await daemon.call('POST', '/api/receipts', body, as));
  const signed = key.sign(made.text, made.credentials);
  return { path: `/api/receipts/${made.receiptId}`, made, body: { text: made.text, ...signed! } };
}

/** A stored receipt. */
export async function receiptOf(daemon: Caller, key: ReceiptKey, wanted: Wanted): Promise<Receipt> {
  const { path, body } = await signedBy(daemon, key, wanted);
  return data(await daemon.call('POST', path, body));
}

/** An ACTIVE device whose key is proved. */
export async function provedDevice(daemon: Caller, key = new ReceiptKey()) {
  const device = await deviceIn('ACTIVE', daemon);
  await key.prove(daemon, device.serialNumber);
  return { ...device, key };
}

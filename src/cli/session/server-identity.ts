/** Whether the server that answers is the one that a profile has met before it gets a password or a token. */
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { provenText } from '../../contract/local.ts';
import type { Client } from '../client/client.ts';
import { failure } from '../fault.ts';
import type { KnownServer } from '../settings/known-servers.ts';

const NONCE_BYTES = 32;

/** Asks the server to sign a nonce. Null if it has no identity: an earlier version. A fault if the signature is wrong. */
export async function meetServer(client: Client): Promise<KnownServer | null> {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const { data, peer } = await client.send({ operation: 'getHealth', input: { query: { nonce } } });
  const proof = proofOf(data);
  if (proof === null) return null;
  const { instanceId, publicKey, address } = proof;
  if (!isSigned(proof, nonce))
    throw failure(`the server at ${await client.address()} gave a wrong proof of its identity`, warning);
  return { instanceId, publicKey, direct: peer === address };
}

const warning = 'another program may answer at this address; do not log in before you know which one';

/** Refuses a server that is not the known one, or that is now reached through another program. What was met. */
export async function demandKnown(client: Client, known: KnownServer, acceptHint: string): Promise<KnownServer> {
  const met = await meetServer(client);
  return checkKnown(met, await client.address(), known, acceptHint);
}

/** Checks the server that was met at an address. */
export function checkKnown(
  met: KnownServer | null,
  origin: string,
  known: KnownServer,
  acceptHint: string,
): KnownServer {
  if (met === null || met.publicKey !== known.publicKey)
    throw failure(
      `the server at ${origin} is not the one that this profile knows (instance ${known.instanceId}): ${
        met === null ? 'it has no identity' : `it is instance ${met.instanceId}`
      }. Nothing secret was sent`,
      acceptHint,
    );
  if (known.direct && !met.direct)
    throw failure(
      `another program answers at ${origin} and passes requests on to the server. Nothing secret was sent`,
      acceptHint,
    );
  return met;
}

interface IdentityProof {
  readonly instanceId: string;
  readonly publicKey: string;
  readonly address: string;
  readonly signature: string;
}

function proofOf(data: unknown): IdentityProof | null {
  const { identity } = data as { identity?: Partial<IdentityProof> | null };
  if (typeof identity !== 'object' || identity === null) return null;
  const { instanceId, publicKey, address, signature } = identity;
  const texts = [instanceId, publicKey, address, signature];
  return texts.every(text => typeof text === 'string') ? (identity as IdentityProof) : null;
}

function isSigned({ instanceId, publicKey, address, signature }: IdentityProof, nonce: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), format: 'der', type: 'spki' });
    const text = Buffer.from(provenText({ instanceId, nonce, address }));
    return key.asymmetricKeyType === 'ed25519' && verify(null, text, key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

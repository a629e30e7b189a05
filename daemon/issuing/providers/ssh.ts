/**
 * SSH as a provider: credentials for the application `ssh:`, as OpenSSH makes them (PROTOCOL.u2f). Hosts ask this registry for the public
 * keys at each login, so that nothing has to be registered or removed elsewhere.
 */
import { createHash, randomBytes } from 'node:crypto';
import { SSH_APPLICATION } from '../../../src/contract/ssh-key.ts';
import {
  type AuthenticatorData,
  ed25519KeyOf,
  pointOf,
  readRegistered,
} from '../../proofs/judge/authenticator-data.ts';
import type { ProviderRecord } from '../provider.ts';
import { type IssuingProvider, ProviderRefused } from './provider-api.ts';

/** Milliseconds for a touch and a PIN. */
const CHALLENGE_MS = 5 * 60_000;
/** Ed25519 first: its signatures are smaller. */
const ALGORITHMS = [-8, -7];
/** Bytes of a user id that OpenSSH reads from a key. */
const USER_ID_BYTES = 32;

/** `now`: milliseconds since 1970. */
export function sshKeys({ verification }: Pick<ProviderRecord, 'verification'>, now: () => number): IssuingProvider {
  const needsPin = verification !== null && verification !== undefined;
  return {
    test: async () => {},
    account: async userName => userName,
    options: async account => ({
      origin: SSH_APPLICATION,
      options: {
        challenge: randomBytes(32).toString('base64url'),
        rp: { id: SSH_APPLICATION, name: SSH_APPLICATION },
        user: { id: userIdOf(account), name: account, displayName: account },
        pubKeyCredParams: ALGORITHMS.map(alg => ({ type: 'public-key', alg })),
        authenticatorSelection: { residentKey: 'required', userVerification: needsPin ? 'required' : 'preferred' },
        extensions: { credentialProtectionPolicy: needsPin ? 'userVerificationRequired' : 'userVerificationOptional' },
      },
      expiresAt: now() + CHALLENGE_MS,
      handle: null,
    }),
    finish: async ({ response }) =>
      publicKeyIn(readRegistered(Buffer.from(response.response.attestationObject, 'base64url')).credentialKey),
    list: async () => null,
    remove: async () => true,
  };
}

/** `ssh-keygen -K` names files by it. A key keeps one credential for each id. */
function userIdOf(account: string): string {
  const bytes = Buffer.from(account);
  const isLong = bytes.length >= USER_ID_BYTES;
  return (isLong ? createHash('sha256').update(bytes).digest() : bytes).toString('base64url');
}

/** The public key as `authorized_keys` has it. */
function publicKeyIn(key: AuthenticatorData['credentialKey']): string {
  const ed25519 = ed25519KeyOf(key);
  if (ed25519 !== null) return lineOf('sk-ssh-ed25519@openssh.com', ed25519);
  try {
    return lineOf('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', pointOf(key));
  } catch {
    throw new ProviderRefused('the key has made a credential that SSH cannot use');
  }
}

/** Each field after its length in four bytes (RFC 4251, 5). */
function lineOf(type: string, ...fields: (string | Uint8Array)[]): string {
  const parts = [type, ...fields, SSH_APPLICATION].flatMap(field => {
    const bytes = Buffer.from(field as string);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  });
  return `${type} ${Buffer.concat(parts).toString('base64')}`;
}

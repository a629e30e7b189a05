/** Secrets at rest: AES-256-GCM, with a key that follows from that of the registry, or from the salt of a person. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const bytes = { iv: 12, tag: 16 } as const;

/** The binding of a secret: copied to another subject or place, it opens nothing. Stored secrets depend on this form of JSON. */
export interface Binding {
  /** Number of what has the secret: a webhook, a provider, a user, a person; 0 if there is only one. */
  readonly subject: number;
  /** Where the secret is used, such as an address, or what it is. */
  readonly place: string;
}
const additional = ({ subject, place }: Binding): Buffer => Buffer.from(JSON.stringify([subject, place]));

/** A secret for the database. */
export function sealSecret(key: Uint8Array, binding: Binding, secret: string): string {
  const iv = randomBytes(bytes.iv);
  const cipher = createCipheriv(algorithm, key, iv).setAAD(additional(binding));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** The secret; null if it was sealed with another key, with another binding, or was changed. */
export function openSecret(key: Uint8Array, binding: Binding, sealed: string): string | null {
  const all = Buffer.from(sealed, 'base64url');
  const iv = all.subarray(0, bytes.iv);
  const tag = all.subarray(bytes.iv, bytes.iv + bytes.tag);
  try {
    const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: bytes.tag });
    decipher.setAAD(additional(binding)).setAuthTag(tag);
    return Buffer.concat([decipher.update(all.subarray(bytes.iv + bytes.tag)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** Names what is made of these parts. */
export const digest = (...parts: readonly (string | null)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

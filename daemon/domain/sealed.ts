/** Secrets at rest: AES-256-GCM. Those of webhooks and of single sign-on have a key that follows from that of the registry. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { WebhookRecord } from './webhook.ts';

const algorithm = 'aes-256-gcm';
const bytes = { iv: 12, tag: 16 } as const;

/** What a secret is bound to: a row that is copied to another endpoint or address opens nothing. */
type BoundWebhook = Pick<WebhookRecord, 'number' | 'url'>;
const additional = ({ number, url }: BoundWebhook): Buffer => Buffer.from(JSON.stringify([number, url]));

/** A secret for the database. */
export function sealSecret(key: Uint8Array, bound: BoundWebhook, secret: string): string {
  const iv = randomBytes(bytes.iv);
  const cipher = createCipheriv(algorithm, key, iv).setAAD(additional(bound));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** The secret; null if it was sealed with another key, for another endpoint, or was changed. */
export function openSecret(
  key: Uint8Array,
  { sealed, ...bound }: Pick<WebhookRecord, 'number' | 'url' | 'sealed'>,
): string | null {
  const all = Buffer.from(sealed, 'base64url');
  const iv = all.subarray(0, bytes.iv);
  const tag = all.subarray(bytes.iv, bytes.iv + bytes.tag);
  try {
    const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: bytes.tag });
    decipher.setAAD(additional(bound)).setAuthTag(tag);
    return Buffer.concat([decipher.update(all.subarray(bytes.iv + bytes.tag)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

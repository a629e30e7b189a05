/**
 * The scheme of Standard Webhooks, for `watch --forward-to` and for the webhooks of the daemon:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

const prefix = 'whsec_';
/** Bytes of a secret that the scheme allows. */
const secretBytes = { min: 24, max: 64 };

/** Requirement of a secret, in words that follow "must be". */
export const secretShape = `${prefix} and base64 of ${secretBytes.min} to ${secretBytes.max} bytes`;

/** Whether a text is a secret of the scheme. */
export function isWebhookSecret(text: string): boolean {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  const { length } = Buffer.from(encoded, 'base64');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && length >= secretBytes.min && length <= secretBytes.max;
}

/** A new random secret. */
export const newWebhookSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`;

/** A message before it is signed. */
export interface WebhookMessage {
  /** Id of all attempts: a receiver drops repeats by it. */
  readonly id: string;
  /** Time of the attempt in milliseconds since 1970: receivers refuse one that is more than five minutes off. */
  readonly at: number;
  /** The JSON text. */
  readonly body: string;
}

/** The headers of a message, its signature among them. The secret must be valid: see `isWebhookSecret`. */
export function signedHeaders(secret: string, { id, at, body }: WebhookMessage): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'devmgr',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(at), body),
  };
}

/** Meaning of the status of a response: the message was received, the receiver refuses further messages, or try again. */
export function meaningOf(status: number): 'delivered' | 'gone' | 'again' {
  if (status >= 200 && status <= 299) return 'delivered';
  return status === 410 ? 'gone' : 'again';
}

/** Fault of a status that is not a success. Redirects are not followed. */
export const statusProblem = (status: number): string =>
  `answered ${status}${status >= 300 && status <= 399 ? '; redirects are not followed' : ''}`;

/** Seconds of a Retry-After header, which is a number or a date; null if it is neither. `now`: milliseconds since 1970. */
export function retryAfterSeconds(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

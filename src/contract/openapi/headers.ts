/** Headers of answers. */
import type { JsonObject } from './schemas.ts';

export const json = 'application/json';

const text = { schema: { type: 'string' } };
const whole = { schema: { type: 'integer' } };

/** `components.headers`. */
export const headers = {
  RequestId: { description: 'Names this request in the log of the service.', ...text },
  RateLimitLimit: { description: 'Requests that the window allows.', ...whole },
  RateLimitRemaining: { description: 'Requests left in the window.', ...whole },
  RateLimitReset: { description: 'Unix time in seconds at which the window ends.', ...whole },
  RetryAfter: { description: 'Seconds until the window ends.', ...whole },
  ETag: { description: 'SHA-256 of the file, in quotes.', ...text },
  AcceptRanges: { description: 'Always bytes.', ...text },
  ContentDisposition: { description: 'attachment, with the name of the file.', ...text },
  ContentRange: { description: 'Which bytes of how many were sent.', ...text },
} as const;

export const header = (name: keyof typeof headers): JsonObject => ({ $ref: `#/components/headers/${name}` });

/** On every answer. */
export const requestId = { 'X-Request-Id': header('RequestId') };
/** On every answer of a limited operation that has been counted. */
export const limitHeaders = {
  'X-RateLimit-Limit': header('RateLimitLimit'),
  'X-RateLimit-Remaining': header('RateLimitRemaining'),
  'X-RateLimit-Reset': header('RateLimitReset'),
};

/** Headers of responses. */
import type { JsonObject } from './schemas.ts';

/** Media type of the envelope. */
export const json = 'application/json';

const text = { schema: { type: 'string' } };
const whole = { schema: { type: 'integer' } };

/** `components.headers`. */
export const headers = {
  RequestId: { description: 'Identifies this request in the log of the service.', ...text },
  Node: { description: 'Name of the daemon that answers, one of those that serve the registry.', ...text },
  RateLimitLimit: { description: 'Number of requests that the window allows.', ...whole },
  RateLimitRemaining: { description: 'Number of requests left in the window.', ...whole },
  RateLimitReset: { description: 'Unix time in seconds at which the window ends.', ...whole },
  RetryAfter: { description: 'Seconds after which the request can be sent again.', ...whole },
  IdempotentReplay: {
    description:
      '`true` if this is the stored response to an earlier request with the same Idempotency-Key; else absent.',
    schema: { type: 'string', enum: ['true'] },
  },
  ETag: { description: 'SHA-256 of the file, in quotes.', ...text },
  DeviceVersion: { description: 'Version of the device, in quotes.', ...text },
  ResponseTag: { description: 'A digest of the response, in quotes.', ...text },
  AcceptRanges: { description: 'Always bytes.', ...text },
  ContentDisposition: { description: 'attachment, with the name of the file.', ...text },
  ContentRange: { description: 'The bytes that were sent and the size of the file.', ...text },
} as const;

/** A reference to a header of `components.headers`. */
export const header = (name: keyof typeof headers): JsonObject => ({ $ref: `#/components/headers/${name}` });

/** On every response. */
export const everyHeader = { 'X-Request-Id': header('RequestId'), 'X-Devmgr-Node': header('Node') };
/** On every response of a limited operation whose request was counted. */
export const limitHeaders = {
  'X-RateLimit-Limit': header('RateLimitLimit'),
  'X-RateLimit-Remaining': header('RateLimitRemaining'),
  'X-RateLimit-Reset': header('RateLimitReset'),
};
/** On a response that may be stored for an Idempotency-Key. */
export const replayHeader = { 'Idempotent-Replay': header('IdempotentReplay') };

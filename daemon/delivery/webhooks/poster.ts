/** Posts signed messages to endpoints. The address is checked when the connection is opened, and what comes back is bounded. */
import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import {
  meaningOf,
  retryAfterSeconds,
  signedHeaders,
  statusProblem,
  type WebhookMessage,
} from '../../../src/contract/webhooks/scheme.ts';
import { refuseUpgrade } from '../../../src/delivery/refuse-upgrade.ts';
import { type AttemptResult, failed } from '../../../src/delivery/retry.ts';
import { KeyedMutex } from '../../concurrency.ts';
import { connectionProblem, MAX_HEADERS } from '../../connection-problem.ts';
import { openSecret } from '../../domain/sealed.ts';
import { secretBinding, type WebhookRecord } from '../../domain/webhook.ts';
import type { AllowedTargets } from './allowed.ts';

/** Milliseconds for one post: the name, the connection, the response and the beginning of its body. */
const POST_MS = 15_000;
/** Bytes of a response's body that are read, and the milliseconds that they may take: then the connection is closed. */
const body = { bytes: 4096, milliseconds: 1000 } as const;

/** What came of a post. */
interface Result extends AttemptResult {
  /** HTTP status; null without a response. */
  readonly status: number | null;
  readonly milliseconds: number;
}

/** Dependencies of a poster. */
interface PosterParts {
  readonly allowed: AllowedTargets;
  /** The key that seals secrets. */
  readonly sealingKey: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds after which a post has failed. */
  readonly postMs?: number | undefined;
}

/** Posts to endpoints, to each one message at a time. */
export class Poster {
  readonly #parts: PosterParts;
  readonly #oneAtATime = new KeyedMutex<number>();

  constructor(parts: PosterParts) {
    this.#parts = parts;
  }

  /** Never rejects: a failure is in the result. */
  post(record: WebhookRecord, message: Omit<WebhookMessage, 'at'>, signal?: AbortSignal): Promise<Result> {
    return this.#oneAtATime.run(record.number, async () => {
      const started = performance.now();
      const outcome = await this.#try(record, message, signal);
      return { ...outcome, milliseconds: Math.round(performance.now() - started) };
    });
  }

  async #try(record: WebhookRecord, message: Omit<WebhookMessage, 'at'>, signal: AbortSignal | undefined) {
    const { allowed, sealingKey, now, postMs = POST_MS } = this.#parts;
    const secret = openSecret(sealingKey, secretBinding(record), record.sealed);
    if (secret === null)
      return unanswered('its secret was encrypted with another key; remove the webhook and create it again');
    const url = new URL(record.url);
    const problem = allowed.problemOf(url);
    if (problem !== null) return unanswered(`the address ${problem}`);
    // Cleared after the post: thousands of posts in a deadline would otherwise keep what they sent.
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), postMs);
    try {
      const { status, retryAfter } = await this.#send(
        url,
        signedHeaders(secret, { ...message, at: now() }),
        message.body,
        [deadline.signal, ...(signal ? [signal] : [])],
      );
      const result = meaningOf(status);
      const reason = result === 'delivered' ? null : `the endpoint ${statusProblem(status)}`;
      return { result, status, reason, waitSeconds: retryAfterSeconds(retryAfter, now()) };
    } catch (error) {
      return unanswered(
        deadline.signal.aborted ? `no response within ${postMs / 1000} s` : connectionProblem(error, url.hostname),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  #send(url: URL, headers: Readonly<Record<string, string>>, text: string, signals: readonly AbortSignal[]) {
    const { allowed } = this.#parts;
    const options: RequestOptions = {
      method: 'POST',
      headers,
      // A connection of its own, whose address is checked: one that is used again may have been closed by the receiver.
      agent: false,
      signal: AbortSignal.any([...signals]),
      maxHeaderSize: MAX_HEADERS,
      lookup: allowed.lookupFor(url),
    };
    return new Promise<{ status: number; retryAfter: string | undefined }>((done, reject) => {
      const request = (url.protocol === 'https:' ? tlsRequest : plainRequest)(url, options);
      request.once('error', reject);
      refuseUpgrade(request, status => done({ status, retryAfter: undefined }));
      request.once('response', response => {
        const answer = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
        // The status is known: what the body does no longer matters.
        void drained(response).then(() => done(answer));
      });
      request.end(text);
    });
  }
}

/** Resolves when the body has ended, or enough of it was read and the connection is closed. */
function drained(response: IncomingMessage): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(() => response.destroy(), body.milliseconds);
    let read = 0;
    response.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read > body.bytes) response.destroy();
    });
    response.on('error', () => {});
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const unanswered = (reason: string) => ({ ...failed(reason), status: null });

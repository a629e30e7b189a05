/** Posts signed messages to endpoints. The address is checked when the connection is opened, and what comes back is bounded. */
import {
  meaningOf,
  retryAfterSeconds,
  signedHeaders,
  statusProblem,
  type WebhookMessage,
} from '../../src/contract/webhooks/scheme.ts';
import { type AttemptResult, failed } from '../../src/delivery/retry.ts';
import type { AllowedTargets } from '../base/allowed-targets.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { connectionProblem } from '../base/connection-problem.ts';
import { Outgoing } from '../base/outgoing.ts';
import { openSecret } from '../base/sealed.ts';
import type { Clock } from '../base/time.ts';
import { WithParts } from '../requests/context.ts';
import { secretBinding, type WebhookRecord } from './records.ts';

/** Milliseconds for one post: the name, the connection, the response and the beginning of its body. */
const POST_MS = 15_000;
/** Bytes of a response's content that are read, and the milliseconds that they may take: then the connection is closed. */
const content = { bytes: 4096, milliseconds: 1000 } as const;

/** The result of a post. */
interface Result extends AttemptResult {
  /** HTTP status; null without a response. */
  readonly status: number | null;
  readonly milliseconds: number;
}

/** Dependencies of a poster. */
interface PosterParts extends Clock {
  readonly allowed: AllowedTargets;
  /** The key that seals secrets. */
  readonly sealingKey: Uint8Array;
  /** Milliseconds after which a post has failed. */
  readonly postMs?: number | undefined;
}

/** Posts to endpoints, to each one message at a time. */
export class Poster extends WithParts<PosterParts> {
  readonly #outgoing: Outgoing;
  readonly #oneAtATime = new KeyedMutex<number>();

  constructor(parts: PosterParts) {
    super(parts);
    this.#outgoing = new Outgoing({ allowed: parts.allowed });
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
    const { sealingKey, now, postMs = POST_MS } = this.parts;
    const secret = openSecret(sealingKey, secretBinding(record), record.sealed);
    if (secret === null)
      return unanswered('its secret was encrypted with another key; remove the webhook and create it again');
    const url = new URL(record.url);
    const headers = signedHeaders(secret, { ...message, at: now() });
    const request = { url, method: 'POST', headers, body: message.body, signal, withinMs: postMs, cutAfter: content };
    try {
      const answer = await this.#outgoing.send(request);
      const { status } = answer;
      const result = meaningOf(status);
      const reason = result === 'delivered' ? null : `the endpoint ${statusProblem(status)}`;
      return {
        result,
        status,
        reason,
        waitSeconds: retryAfterSeconds(answer.headers['retry-after']?.toString(), now()),
      };
    } catch (error) {
      return unanswered(connectionProblem(error, url.hostname));
    }
  }
}

const unanswered = (reason: string) => ({ ...failed(reason), status: null });

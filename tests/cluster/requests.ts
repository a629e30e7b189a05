/**
 * Requests of the clients, as the real client sends them: a write has an Idempotency-Key, and is repeated with it if its response
 * was lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** A response that is neither success nor a reason to send the request again. */
export class Refused extends Error {}

/** A write: when it was first sent, and when a response said that it was carried out. By `performance.now()`. */
export interface Write {
  readonly sent: number;
  readonly acknowledged: number;
}

interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/** Milliseconds without an answer after which a client sends a request again. */
const ANSWER_MS = 10_000;
/** Milliseconds before each repetition; the last one for all further ones. */
const PAUSES_MS = [100, 200, 400, 800] as const;
/** Milliseconds after which a client gives up: every fault here is shorter. */
const GIVE_UP_MS = 90_000;
/** Codes of a service that cannot answer now. */
const repeated = new Set([500, 429]);

export class Requests {
  readonly #pool: Pool;
  token = '';
  /** In the order of the acknowledgements. */
  readonly writes: Write[] = [];
  /** How often a request was sent again, by reason. */
  readonly again = new Map<string, number>();

  /** `origin`: the URL of the proxy. */
  constructor(origin: string) {
    this.#pool = poolOf(origin);
  }

  /** Resolves with the data of a read. Rejects with `Refused`. `T`: the data that the operation returns. */
  async read<T>(path: string): Promise<T> {
    return (await this.#repeated('GET', path, undefined, {})) as T;
  }

  /** Sends a write until a response gives its result. Rejects with `Refused`. `T`: the data that the operation returns. */
  async write<T = unknown>(method: 'POST' | 'PUT', path: string, body: object): Promise<T> {
    const sent = performance.now();
    const data = await this.#repeated(method, path, body, { 'idempotency-key': crypto.randomUUID() });
    this.writes.push({ sent, acknowledged: performance.now() });
    return data as T;
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #repeated(method: string, path: string, body: object | undefined, headers: Record<string, string>) {
    const until = performance.now() + GIVE_UP_MS;
    let answer: Envelope | string = '';
    for (let i = 0; performance.now() < until; i++) {
      answer = await this.#once(method, path, body, headers);
      if (typeof answer !== 'string') return answer.data;
      this.again.set(answer, (this.again.get(answer) ?? 0) + 1);
      // As a real client does. At once, the repetitions alone would keep the machine busy during a failover.
      await sleep(PAUSES_MS[Math.min(i, PAUSES_MS.length - 1)]! * (0.5 + Math.random()));
    }
    throw new Refused(`${method} ${path}: no answer within ${GIVE_UP_MS / 1000} s; the last attempt: ${answer}`);
  }

  /** The envelope of a success, or why the request is to be sent again. */
  async #once(method: string, path: string, body: object | undefined, headers: Record<string, string>) {
    let status = 0;
    let text: string;
    let saysWhen = false;
    try {
      const response = await this.#pool.request({
        method: method as 'GET',
        path,
        headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${this.token}` },
        ...(body && { body: JSON.stringify(body) }),
      });
      status = response.statusCode;
      saysWhen = response.headers['retry-after'] !== undefined;
      text = await response.body.text();
    } catch (error) {
      return (error as { code?: string }).code ?? (error as Error).message;
    }
    const envelope = parsed(text);
    if (envelope === null) return `proxy ${status}`;
    if (envelope.code === 200) return envelope;
    if (repeated.has(envelope.code))
      return `${status}${status === 503 && !saysWhen ? ' without Retry-After' : ''}: ${envelope.message}`;
    throw new Refused(`${method} ${path}: ${status} ${text}`);
  }
}

const poolOf = (origin: string): Pool =>
  new Pool(origin, { connections: 100, pipelining: 1, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });

function parsed(text: string): Envelope | null {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return null;
  }
}

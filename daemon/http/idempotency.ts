/** Requests with the header Idempotency-Key: the first final response is stored, and a repeated request gets it again. */
import { createHmac, hash, webcrypto } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { ApiError, inputError, isFinal } from '../../src/contract/codes.ts';
import { idempotency } from '../../src/contract/limits.ts';
import { type Context, commitFor, holderOf, type KeyedRequest, StillRunning } from '../requests/context.ts';
import { type ChangeResult, ResponseExists, type ResponsePart } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import { envelope, errorResponse } from './responses.ts';

/** The header, in lower case. */
export const KEY_HEADER = 'idempotency-key';
/** On a response that was stored. */
const REPLAY_HEADER = 'idempotent-replay';

const LIFETIME_MS = idempotency.hours * 3_600_000;
/** Bytes of all large responses that are stored for a user or service token: those of batches with 10 million devices. */
const MAX_TOTAL = 256 * 2 ** 20;
/** Bytes of a body from which on another thread computes its digest. */
const LARGE_BODY = 256 * 1024;
/** Bytes of a response from which on it is compressed. */
const COMPRESSED = 1024;
const NO_BODY = Buffer.from('{}');

/** Identity of a request with a key. */
export interface KeyedInput {
  readonly key: string;
  /** The operation with its parameters. */
  readonly operation: string;
  /** As it arrived; null if there is none, which is the same as `{}`. */
  readonly body: Buffer | null;
  readonly context: Context;
  readonly reply: FastifyReply;
  /** Carries out the request; its commit must store the response. */
  readonly run: (request: KeyedRequest) => Promise<unknown>;
  /** The text of a successful response. */
  readonly textOf: (data: unknown) => string;
}

/** Answers requests with a key: carries out the first one, and returns its response to the others. */
export class KeyedRequests {
  readonly #store: Pick<Store, 'commit' | 'response'>;
  readonly #now: () => number;
  /** Digests of the requests that are running, by the id of their responses. */
  readonly #running = new Map<string, string>();

  /** `now`: milliseconds since 1970. */
  constructor(parts: { readonly store: Pick<Store, 'commit' | 'response'>; readonly now: () => number }) {
    this.#store = parts.store;
    this.#now = parts.now;
  }

  /** Resolves with the text of the response. Rejects with what is not stored, and with the error that a first request ends with. */
  async answer(asked: KeyedInput): Promise<string> {
    checkKey(asked.key);
    const holder = holderOf(asked.context.caller);
    const id = hash('sha256', `${holder}\n${asked.key}`);
    const digest = await digestOf(asked);
    const running = this.#running.get(id);
    if (running !== undefined) {
      checkSame(running, digest);
      throw new StillRunning();
    }
    this.#running.set(id, digest);
    try {
      return (await this.#replay(asked.reply, id, digest)) ?? (await this.#first(asked, { id, holder, digest }));
    } finally {
      this.#running.delete(id);
    }
  }

  async #first(asked: KeyedInput, identity: Pick<ResponsePart, 'id' | 'holder' | 'digest'>): Promise<string> {
    const part = { ...identity, expiresAt: this.#now() + LIFETIME_MS, maxTotal: MAX_TOTAL };
    const request = new FirstRequest(part, asked.textOf);
    try {
      return await this.#carryOut(asked, request);
    } catch (error) {
      const isTaken = error instanceof ResponseExists;
      if (!isTaken && (!(error instanceof ApiError) || isFinal(error.code))) throw error;
      // Another daemon on the same store may have been faster. A refusal, such as 'is not locked', can be what its change causes.
      const stored = await this.#replay(asked.reply, identity.id, identity.digest);
      if (stored !== null) return stored;
      throw isTaken ? new StillRunning() : error;
    }
  }

  async #carryOut({ context, run, textOf }: KeyedInput, request: FirstRequest): Promise<string> {
    let data: unknown;
    try {
      data = await run(request);
    } catch (error) {
      if (!request.isCommitted && error instanceof ApiError && isFinal(error.code))
        await this.#storeAlone(context, request, () => {
          throw error;
        });
      throw error;
    }
    if (!request.isCommitted) await this.#storeAlone(context, request, () => data);
    return request.text ?? textOf(data);
  }

  /** For a response without a change: a refusal, or a request that has nothing to change. */
  async #storeAlone(context: Context, request: FirstRequest, outcome: () => unknown): Promise<void> {
    await commitFor(this.#store, context, { at: this.#now(), changes: [], response: request.part(outcome) });
  }

  /** The response that is stored; null if there is none. */
  async #replay(reply: FastifyReply, id: string, digest: string): Promise<string | null> {
    const stored = await this.#store.response(id, this.#now());
    if (!stored) return null;
    checkSame(stored.digest, digest);
    reply.code(stored.status).header(REPLAY_HEADER, 'true');
    return unpacked(stored.body);
  }
}

/** The first request with a key. */
class FirstRequest implements KeyedRequest {
  readonly #part: Omit<ResponsePart, 'make'>;
  readonly #textOf: KeyedInput['textOf'];
  isCommitted = false;
  /** Of a successful response, once it is made. */
  text: string | null = null;

  constructor(part: Omit<ResponsePart, 'make'>, textOf: KeyedInput['textOf']) {
    this.#part = part;
    this.#textOf = textOf;
  }

  part(data: (results: readonly ChangeResult[]) => unknown): ResponsePart {
    return { ...this.#part, make: results => this.#make(() => data(results)) };
  }

  committed(): void {
    this.isCommitted = true;
  }

  #make(data: () => unknown): ReturnType<ResponsePart['make']> {
    this.text = null;
    try {
      this.text = this.#textOf(data());
      return { status: 200, body: packed(this.text) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!isFinal(error.code)) return null;
      const { code, message, status, data, details } = errorResponse(error);
      return { status, body: packed(envelope(code, message, data, details)) };
    }
  }
}

/** Node joins repeated headers with a comma and a space, so two of them are not a valid key. */
function checkKey(key: string): void {
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > idempotency.maxKey)
    throw inputError('Idempotency-Key', `must be 1 to ${idempotency.maxKey} visible ASCII characters`);
}

function checkSame(stored: string, digest: string): void {
  if (stored !== digest)
    throw inputError('Idempotency-Key', 'was used for another request: send a new key with each new request');
}

/**
 * Authenticated with the key, which is stored nowhere: a body may contain a password, and a plain digest would let anyone who has
 * the database try passwords fast.
 */
async function digestOf({ key, operation, body }: KeyedInput): Promise<string> {
  const content = body?.length ? body : NO_BODY;
  const bodyDigest =
    content.length < LARGE_BODY
      ? hash('sha256', content, 'buffer')
      : new Uint8Array(await webcrypto.subtle.digest('SHA-256', content as Uint8Array<ArrayBuffer>));
  return createHmac('sha256', key).update(operation).update('\n').update(bodyDigest).digest('hex');
}

/** Compressed with Zstandard if it is long: its first byte differs from that of an envelope. */
function packed(text: string): Buffer {
  const plain = Buffer.from(text);
  if (plain.length < COMPRESSED) return plain;
  return zstdCompressSync(plain, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

function unpacked(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return (bytes[0] === 0x7b ? bytes : zstdDecompressSync(bytes)).toString('utf8');
}

/** The client of the object store, with connections and responses that leave little memory behind. */

import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { S3Client } from '@aws-sdk/client-s3';
import { agentEnv, proxyFor, type WebProxy } from '../../../src/delivery/proxies.ts';
import type { S3Target } from '../../home/object-store-target.ts';

/** A connection that is not made within this time, and one that is silent for this long, has failed (milliseconds). */
const timeouts = { connectionTimeout: 5_000, socketTimeout: 30_000 };

const agents = { keepAlive: true, maxSockets: 50 };

/** Bytes that a connection passes on at a time. Each copy of this size has separate memory, which can be freed alone. */
const BLOCK_BYTES = 64 * 1024;

/**
 * Has each connection read into one buffer: new ones, which connections with TLS even share, would take more than 64 MiB before each
 * garbage collection. The HTTP parser copies the content of a response while the event lasts.
 */
function inBlocks<A extends HttpAgent>(agent: A): A {
  const connect = agent.createConnection.bind(agent) as (options: object, callback?: unknown) => Socket;
  agent.createConnection = (options, callback) => {
    const block = new Block(bytes => connection.emit('data', bytes));
    const onread = { buffer: Buffer.allocUnsafeSlow(BLOCK_BYTES), callback: block.take };
    const connection = connect({ ...options, onread }, callback);
    // These listeners come before those of the request.
    for (const event of ['end', 'error', 'close']) connection.on(event, block.passOn);
    return connection;
  };
  return agent;
}

/** Joins what a connection reads in one turn of the event loop: TLS has at most 16 KiB in a record. */
class Block {
  readonly #emit: (bytes: Buffer) => void;
  readonly #bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #filled = 0;

  constructor(emit: (bytes: Buffer) => void) {
    this.#emit = emit;
  }

  readonly take = (length: number, read: Uint8Array): boolean => {
    if (this.#filled + length > BLOCK_BYTES) this.passOn();
    if (this.#filled === 0) setImmediate(this.passOn);
    this.#bytes.set(read.subarray(0, length), this.#filled);
    this.#filled += length;
    return true;
  };

  readonly passOn = (): void => {
    const length = this.#filled;
    this.#filled = 0;
    if (length > 0) this.#emit(this.#bytes.subarray(0, length));
  };
}

/** The proxy through which a target is reached; null without one. Throws an Error if the environment has an invalid value. */
export const proxyOf = ({ endpoint, bucket, region }: S3Target): WebProxy | null =>
  proxyFor(new URL(endpoint ?? `https://${bucket}.s3.${region}.amazonaws.com`));

/** An agent reads the response of a proxy to CONNECT itself, so connections through one are read as usual. */
function agentsFor(proxy: WebProxy | null) {
  if (!proxy) return { httpAgent: inBlocks(new HttpAgent(agents)), httpsAgent: inBlocks(new HttpsAgent(agents)) };
  const through = { ...agents, proxyEnv: agentEnv(proxy) };
  return { httpAgent: new HttpAgent(through), httpsAgent: new HttpsAgent(through) };
}

/** A client for the service of a target. It tries a request four times. */
export function clientOf(target: S3Target, proxy: WebProxy | null): S3Client {
  const client = new S3Client({
    region: target.region,
    credentials: target.credentials,
    // Only AWS itself resolves BUCKET.HOST for each bucket.
    ...(target.endpoint ? { endpoint: target.endpoint, forcePathStyle: true } : {}),
    maxAttempts: 4,
    requestHandler: {
      ...timeouts,
      ...agentsFor(proxy),
    },
    // Other services do not know the newer checksums. The SHA-256 of each part is signed anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  // Before the response is parsed, so that the request is retried if the response breaks off.
  client.middlewareStack.add(
    next => async args => {
      const result = await next(args);
      const { method } = args.request as { method: string };
      await inOnePiece(method, result.response as { body: unknown });
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'inOnePiece' },
  );
  return client;
}

/**
 * Reads the response to a change whole. The client would pass it through two more streams, and V8 would keep the objects of each such
 * request, 9 kB, until its next full garbage collection. A file is sent in response to GET.
 */
async function inOnePiece(method: string, response: { body: unknown }): Promise<void> {
  if (method !== 'GET' && response.body instanceof Readable) response.body = await buffer(response.body);
}

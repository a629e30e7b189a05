/** The client of the object store, with connections and responses that leave little memory behind. */
import { S3Client } from '@aws-sdk/client-s3';
import { Outgoing, type OutgoingRequest } from '../../base/outgoing.ts';
import type { S3Target } from '../../home/object-store-target.ts';

/** A connection that is not made within this time, and one that is silent for this long, has failed (milliseconds). */
const limits = { connectMs: 5_000, silenceMs: 30_000, kept: 50 };

/** A request as the library has signed it. */
interface SignedRequest extends Omit<OutgoingRequest, 'url'> {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | string[] | null>>;
}

/** Sender of the library's requests. */
class SignedRequests {
  readonly #outgoing = new Outgoing(limits);

  /** The response to a change is read whole: it is retried if it breaks off. A file is sent in response to GET. */
  async handle(request: SignedRequest, { abortSignal }: { readonly abortSignal?: object | undefined } = {}) {
    const signed = { ...request, url: urlOf(request), signal: abortSignal as AbortSignal | undefined };
    const answer = await this.#outgoing[request.method === 'GET' ? 'stream' : 'send'](signed);
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, `${value}`]);
    return { response: { statusCode: answer.status, headers: Object.fromEntries(headers), body: answer.content } };
  }

  destroy(): void {
    this.#outgoing.close();
  }
}

/** A client for the service of a target. It tries a request four times. */
export function clientOf(target: S3Target): S3Client {
  return new S3Client({
    region: target.region,
    credentials: target.credentials,
    // Only AWS itself resolves BUCKET.HOST for each bucket.
    ...(target.endpoint ? { endpoint: target.endpoint, forcePathStyle: true } : {}),
    maxAttempts: 4,
    requestHandler: new SignedRequests(),
    // undici does not wait for the consent of the service.
    expectContinueHeader: false,
    // Other services do not know the newer checksums. The SHA-256 of each part is signed anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

function urlOf({ protocol, hostname, port, path, query = {} }: SignedRequest): URL {
  const url = new URL(`${protocol}//${hostname}${port ? `:${port}` : ''}${path}`);
  const pairs = Object.entries(query).flatMap(([name, values]) => [values].flat().map(value => [name, value ?? '']));
  // Services read + as it is.
  url.search = new URLSearchParams(pairs).toString().replaceAll('+', '%20');
  return url;
}

/** The requests to the object store that stored files need. */

import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { proxyWords, type WebProxy } from '../../../src/delivery/proxies.ts';
import type { S3Target } from '../../home/object-store-target.ts';
import { BlobError, FilesUnavailable } from '../../requests/blob-error.ts';
import { StoreFailure } from '../../store/commit.ts';
import { clientOf, proxyOf } from './client.ts';

/** Properties of an object in the store. */
export interface ObjectState {
  /** Changes with the content. */
  readonly etag: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** An object in a list. */
interface ListedObject {
  /** Its name without the prefix. */
  readonly name: string;
  readonly size: number;
  /** Milliseconds since 1970; of a multipart upload when it began. */
  readonly modifiedAt: number;
}

/** A multipart upload that was neither completed nor aborted. */
interface UnfinishedUpload {
  readonly name: string;
  readonly uploadId: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** A part that is stored: its number from 1, and the tag that the store gave it. */
export interface StoredPart {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
}

/** Refusals for want of room: the quota of the account or the disks of the service. */
const fullCodes = new Set(['QuotaExceeded', 'QuotaExceededException', 'InsufficientStorage', 'XMinioStorageFull']);

/**
 * The objects below the prefix of a target. A request is tried four times. All methods reject with `BlobError` (`missing`,
 * `disk-full`) or, if the store cannot be used, with `StoreFailure`; with `FilesUnavailable` if it may be used later.
 */
export class Bucket {
  readonly #client: S3Client;
  readonly #target: S3Target;
  readonly #proxy: WebProxy | null;

  /** Throws `StoreFailure` if the environment names a proxy that cannot be used. */
  constructor(target: S3Target) {
    this.#target = target;
    try {
      this.#proxy = proxyOf(target);
      this.#client = clientOf(target, this.#proxy);
    } catch (error) {
      throw new StoreFailure((error as Error).message, { cause: error });
    }
  }

  /** Rejects unless the bucket can be listed. */
  async check(): Promise<void> {
    await this.#run(signal =>
      this.#client.send(
        new ListObjectsV2Command({ Bucket: this.#target.bucket, Prefix: this.#target.prefix, MaxKeys: 1 }),
        signal,
      ),
    );
  }

  put(name: string, body: Buffer): Promise<unknown> {
    return this.#run(options => this.#client.send(new PutObjectCommand({ ...this.#at(name), Body: body }), options));
  }

  /** Cannot be cut off: an upload that was begun must be known, so that it can be aborted. */
  async begin(name: string): Promise<string> {
    const { UploadId } = await this.#run(options =>
      this.#client.send(new CreateMultipartUploadCommand(this.#at(name)), options),
    );
    if (!UploadId) throw new StoreFailure('the object store has not returned an upload id');
    return UploadId;
  }

  async putPart(
    name: string,
    uploadId: string,
    number: number,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<StoredPart> {
    const part = { ...this.#at(name), UploadId: uploadId, PartNumber: number, Body: body };
    const { ETag } = await this.#run(options => this.#client.send(new UploadPartCommand(part), options), signal);
    return { PartNumber: number, ETag };
  }

  /** The object appears whole. */
  async complete(name: string, uploadId: string, parts: readonly StoredPart[], size: number): Promise<void> {
    const whole = { ...this.#at(name), UploadId: uploadId, MultipartUpload: { Parts: [...parts] } };
    try {
      await this.#run(options => this.#client.send(new CompleteMultipartUploadCommand(whole), options));
    } catch (error) {
      // A repeated request does not find the upload if the answer to the first one was lost.
      const state = await this.state(name).catch(() => null);
      if (state?.size !== size) throw error;
    }
  }

  abort(name: string, uploadId: string): Promise<unknown> {
    const upload = { ...this.#at(name), UploadId: uploadId };
    return this.#run(options => this.#client.send(new AbortMultipartUploadCommand(upload), options));
  }

  /** Copies an object inside the store. */
  copy(from: string, to: string): Promise<unknown> {
    const { bucket, prefix } = this.#target;
    const copy = { ...this.#at(to), CopySource: `${bucket}/${encodeURIComponent(prefix + from)}` };
    return this.#run(options => this.#client.send(new CopyObjectCommand(copy), options));
  }

  remove(name: string): Promise<unknown> {
    return this.#run(options => this.#client.send(new DeleteObjectCommand(this.#at(name)), options));
  }

  async state(name: string): Promise<ObjectState> {
    const found = await this.#run(options => this.#client.send(new HeadObjectCommand(this.#at(name)), options));
    return {
      etag: found.ETag ?? '',
      size: found.ContentLength ?? -1,
      modifiedAt: found.LastModified?.getTime() ?? 0,
    };
  }

  /** The bytes from `start` to `end`, both included, of the object with this ETag. */
  async read(
    name: string,
    range: { etag: string; start: number; end: number },
    signal: AbortSignal,
  ): Promise<Readable> {
    const { etag, start, end } = range;
    const part = { ...this.#at(name), IfMatch: etag, Range: `bytes=${start}-${end}` };
    const { Body } = await this.#run(options => this.#client.send(new GetObjectCommand(part), options), signal);
    if (!(Body instanceof Readable)) throw new StoreFailure('the object store has sent no content');
    return Body;
  }

  /** All objects below the prefix whose names begin with `start`, in batches. */
  async *list(start = ''): AsyncGenerator<readonly ListedObject[]> {
    const { bucket, prefix } = this.#target;
    let after: string | undefined;
    do {
      const page = { Bucket: bucket, Prefix: prefix + start, ContinuationToken: after };
      const { Contents = [], NextContinuationToken } = await this.#run(options =>
        this.#client.send(new ListObjectsV2Command(page), options),
      );
      yield Contents.map(({ Key = '', Size = 0, LastModified }) => ({
        name: Key.slice(prefix.length),
        size: Size,
        modifiedAt: LastModified?.getTime() ?? Date.now(),
      }));
      after = NextContinuationToken;
    } while (after);
  }

  /** The unfinished uploads below the prefix, at most 1,000. */
  async unfinished(): Promise<readonly UnfinishedUpload[]> {
    const { bucket, prefix } = this.#target;
    const { Uploads = [] } = await this.#run(options =>
      this.#client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }), options),
    );
    return Uploads.map(({ Key = '', UploadId = '', Initiated }) => ({
      name: Key.slice(prefix.length),
      uploadId: UploadId,
      startedAt: Initiated?.getTime() ?? Date.now(),
    }));
  }

  close(): void {
    this.#client.destroy();
  }

  #at(name: string) {
    return { Bucket: this.#target.bucket, Key: this.#target.prefix + name };
  }

  async #run<T>(send: (options: { abortSignal?: AbortSignal }) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await send(signal ? { abortSignal: signal } : {});
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw fromService(error, this.#proxy);
    }
  }
}

function fromService(error: unknown, proxy: WebProxy | null): Error {
  const { name, message } = error as Error;
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
  if (name === 'NoSuchKey' || name === 'NotFound')
    return new BlobError('missing', 'the object is missing', { cause: error });
  if (name === 'PreconditionFailed') return new BlobError('damaged', 'the object was replaced', { cause: error });
  if (status === 507 || fullCodes.has(name)) return new BlobError('disk-full', `${name}: ${message}`, { cause: error });
  const what = status === undefined ? message || name : `${name} (${status})`;
  const Failure = isOutage(status) ? FilesUnavailable : StoreFailure;
  const way = proxy ? ` through ${proxyWords(proxy)}` : '';
  return new Failure(`the object store failed${way}: ${what}`, { cause: error });
}

/** No response, too many requests, or a fault of the service. */
const isOutage = (status: number | undefined): boolean => status === undefined || status === 429 || status >= 500;

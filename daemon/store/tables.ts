/** The tables of the store itself as data: each field of a row with the type of its column. */

import type { StoredResponse } from './commit.ts';
import type { DocumentRecord } from './document.ts';
import type { ChainedRow } from './journal-end.ts';
import { type Lookup, StoreTable } from './table.ts';

export const documents = new StoreTable<DocumentRecord>(
  'document',
  { name: 'text', version: 'integer', value: 'text' },
  { key: 'name' },
);

export const documentVersion: Lookup<DocumentRecord, 'version'> = { ...documents.byKey, select: ['version'] };

/** A response to a request with an idempotency key, as it is stored. */
export interface ResponseRow extends StoredResponse {
  readonly id: string;
  readonly holder: string;
  /** Bytes of `body`. */
  readonly size: number;
  readonly expiresAt: number;
}

export const responses = new StoreTable<ResponseRow>(
  'response',
  {
    id: 'text',
    holder: 'text',
    digest: 'text',
    status: 'integer',
    body: 'bytes',
    size: 'integer',
    expiresAt: 'integer',
  },
  { key: 'id' },
);

export const events = new StoreTable<ChainedRow>(
  'event',
  {
    id: 'integer',
    at: 'integer',
    type: 'text',
    device: 'integer',
    subject: 'integer',
    actor: 'text',
    request_id: 'text',
    data: 'text',
    detail: 'text',
    mac: 'text',
  },
  { key: 'id' },
);

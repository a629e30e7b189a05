/** The tables of the progress of webhooks. */

import { StoreTable } from '../store/table.ts';
import type { ProgressRecord } from './records.ts';

/** The progress of an endpoint, as it is stored. */
export interface ProgressRow extends ProgressRecord {
  /** That of the endpoint. */
  readonly number: number;
}

export const webhookProgress = new StoreTable<ProgressRow>('webhook_progress', {
  number: 'integer',
  version: 'integer',
  progress: 'json',
});

import type { ReadsOf, RecordQueries } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import { type Lookup, StoreTable } from '../store/table.ts';
import { sinceVersion, Versions } from '../store/write/documents.ts';
import { type ChangeRules, done } from '../store/write/rule.ts';
import type { ProgressRecord, WebhookChange } from './records.ts';

declare module '../store/document.ts' {
  interface SubjectDocuments {
    webhooks: 'webhooks';
  }
}
declare module '../store/commit.ts' {
  interface SubjectChanges {
    webhooks: WebhookChange;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends ReadsOf<typeof reads> {}
}

/** The progress of an endpoint, as it is stored. */
interface ProgressRow extends ProgressRecord {
  /** That of the endpoint. */
  readonly number: number;
}

const table = new StoreTable<ProgressRow>('webhook_progress', {
  number: 'integer',
  version: 'integer',
  progress: 'json',
});
const progressVersion: Lookup<ProgressRow, 'version'> = { ...table.byKey, select: ['version'] };
const progressOf: Lookup<ProgressRow, 'version' | 'progress'> = {
  ...table.byKey,
  select: ['version', 'progress'],
};

/** The progresses that a transaction replaces or removes. */
class WebhookProgress extends Versions<number, ProgressRow> {
  protected readonly lookup = progressVersion;
}

const changes: ChangeRules<WebhookChange['kind']> = {
  'webhook.progress': {
    ...sinceVersion(
      WebhookProgress,
      progressVersion,
      ({ webhook }: Extract<WebhookChange, { readonly kind: 'webhook.progress' }>) => webhook,
      webhook => `the progress of webhook ${webhook} has another version now`,
    ),
    apply(draft, { webhook: number, before, progress }) {
      draft.part(WebhookProgress).changed.set(number, { number, version: before + 1, progress });
      return done;
    },
  },
  'webhook.forget': {
    apply(draft, { webhook }) {
      draft.part(WebhookProgress).changed.set(webhook, null);
      return done;
    },
  },
};

const reads = (queries: RecordQueries) => ({
  /** The progress of an endpoint. */
  webhookProgress: (webhook: number) => queries.one(progressOf, webhook),
});

/** The progress of the delivery to each endpoint. */
export const webhooks = subject({
  replaced: [WebhookProgress],
  changes,
  reads,
});

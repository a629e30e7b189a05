/** Webhooks: the endpoints of a registry, the progress of each, and what follows from an attempt. Decisions only, no I/O. */
import { Code } from '../../src/contract/codes.ts';
import type { JournalEventType } from '../../src/contract/event-types.ts';
import { webhookIds } from '../../src/contract/ids.ts';
import { webhookBounds } from '../../src/contract/limits.ts';
import { type AttemptResult, type RetryState, type RetryStep, untried } from '../../src/delivery/retry.ts';
import { Refusal } from '../base/decision.ts';
import type { Binding } from '../base/sealed.ts';
import { type DocumentSet, type NumberedRecords, recordsIn, setRecords } from '../store/document.ts';
import type { Entry } from '../store/journal.ts';

/** The document with the endpoints: the journal proves it. */
export const WEBHOOKS = 'webhooks';

/** An endpoint as it is stored. */
export interface WebhookRecord {
  /** The number in the id WHK-n: from 1, never used again. */
  readonly number: number;
  readonly url: string;
  /** Null for all types. */
  readonly types: readonly JournalEventType[] | null;
  /** The secret, sealed with a key of the home. */
  readonly sealed: string;
  /** Name of the user or service token; null for the role LOCAL. */
  readonly createdBy: string | null;
  /** Id of the user or service token, because a name can be used again; null for the role LOCAL; absent in those of earlier versions. */
  readonly madeBy?: string | null;
  /** This and the other times: milliseconds since 1970 (UTC). */
  readonly createdAt: number;
  /** When it was enabled last; null if it never was disabled. */
  readonly enabledAt: number | null;
  /** Null if it is enabled. */
  readonly disabled: { readonly at: number; readonly reason: string } | null;
}

/** Binding of the secret of an endpoint. */
export const secretBinding = ({ number, url }: Pick<WebhookRecord, 'number' | 'url'>): Binding => ({
  subject: number,
  place: url,
});

/** The endpoints of a registry. */
export type Webhooks = NumberedRecords<WebhookRecord>;

/** An attempt to deliver an event. */
interface Attempt {
  readonly event: number;
  readonly type: string;
  readonly messageId: string;
  readonly number: number;
  readonly at: number;
  readonly milliseconds: number;
  /** Null without a response. */
  readonly status: number | null;
  /** Null if it was delivered. */
  readonly reason: string | null;
}

/** The progress of an endpoint. It changes with each attempt, so the journal does not prove it. */
export interface DeliveryProgress extends RetryState {
  /** Id of the last event that was delivered or has another type. */
  readonly through: number;
  readonly lastDeliveredAt: number | null;
  /** The latest first; at most `webhookBounds.attempts`. */
  readonly attempts: readonly Attempt[];
}

/** A progress as it is stored. */
export interface ProgressRecord {
  /** Ascends with each change, from 1. */
  readonly version: number;
  readonly progress: DeliveryProgress;
}

/**
 * Stores the progress of an endpoint. A `Conflict` if its version is not `before`; 0: it does not exist. Not an operation of a user, so
 * it has no journal entry.
 */
interface ProgressSet {
  readonly kind: 'webhook.progress';
  readonly webhook: number;
  readonly before: number;
  readonly progress: DeliveryProgress;
}

/** Removes the progress of an endpoint that is removed in the same commit. */
interface ProgressRemove {
  readonly kind: 'webhook.forget';
  readonly webhook: number;
}

/** Every change of a progress. */
export type WebhookChange = ProgressSet | ProgressRemove;

/** The endpoints in a document. */
export const webhooksIn = recordsIn<WebhookRecord>;

/** The address without its query, which can hold a token of the receiver: for the journal, the log and messages. */
function nameOfUrl(text: string): string {
  const url = URL.parse(text);
  return url ? `${url.origin}${url.pathname}` : '';
}

const stored = (webhooks: Webhooks, entry: Entry): DocumentSet => setRecords(WEBHOOKS, webhooks, entry);

const identified = ({ number, url }: WebhookRecord) => ({ webhookId: webhookIds.format(number), url: nameOfUrl(url) });

type Change = DocumentSet | WebhookChange;

/** An endpoint as the changes leave it. */
export interface WebhooksChanged {
  readonly record: WebhookRecord;
  readonly changes: readonly Change[];
}

/** A new endpoint that gets the events after `through`. Refuses with 1001 if the registry has as many as it can have. */
export function create(
  webhooks: Webhooks,
  webhook: Omit<WebhookRecord, 'number' | 'enabledAt' | 'disabled'>,
  through: number,
): (WebhooksChanged & { readonly progress: DeliveryProgress }) | Refusal {
  if (webhooks.list.length >= webhookBounds.endpoints)
    return new Refusal(
      Code.parameterError,
      `the registry has ${webhookBounds.endpoints} webhooks, the maximum; remove one`,
    );
  const last = webhooks.last + 1;
  const record = { number: last, ...webhook, enabledAt: null, disabled: null };
  const progress = progressFrom(through);
  const { types, madeBy } = record;
  const entry: Entry = { type: 'WEBHOOK_CREATED', detail: { ...identified(record), types, madeBy } };
  const set = stored({ ...webhooks, last, list: [...webhooks.list, record] }, entry);
  return { record, progress, changes: [set, progressSet(last, 0, progress)] };
}

/** The number that the next endpoint gets. */
export const nextNumber = ({ last }: Webhooks): number => last + 1;

const progressFrom = (through: number): DeliveryProgress => ({
  through,
  ...untried,
  lastDeliveredAt: null,
  attempts: [],
});

/** Stores a progress in the place of the version `before`. */
export const progressSet = (webhook: number, before: number, progress: DeliveryProgress): ProgressSet => ({
  kind: 'webhook.progress',
  webhook,
  before,
  progress,
});

/** Posts nothing to the endpoint from now on. `reason` is shown to administrators. */
export function disable(webhooks: Webhooks, before: WebhookRecord, at: number, reason: string): WebhooksChanged {
  const record = { ...before, disabled: { at, reason } };
  const entry: Entry = { type: 'WEBHOOK_DISABLED', detail: { ...identified(record), reason } };
  return { record, changes: [stored(withRecord(webhooks, record), entry)] };
}

/** Continues with the event after the last delivered one, at once. */
export function enable(
  webhooks: Webhooks,
  before: WebhookRecord,
  { version, progress: reached }: ProgressRecord,
  at: number,
): WebhooksChanged & { readonly progress: DeliveryProgress } {
  const record = { ...before, enabledAt: at, disabled: null };
  const progress = { ...reached, ...untried };
  const entry: Entry = { type: 'WEBHOOK_ENABLED', detail: identified(record) };
  const set = stored(withRecord(webhooks, record), entry);
  return { record, progress, changes: [set, progressSet(record.number, version, progress)] };
}

/** Removes the endpoint with its secret and its progress. */
export function remove(webhooks: Webhooks, record: WebhookRecord): readonly Change[] {
  const list = webhooks.list.filter(({ number }) => number !== record.number);
  const entry: Entry = { type: 'WEBHOOK_REMOVED', detail: identified(record) };
  return [stored({ ...webhooks, list }, entry), { kind: 'webhook.forget', webhook: record.number }];
}

const withRecord = (webhooks: Webhooks, record: WebhookRecord): Webhooks => ({
  ...webhooks,
  list: webhooks.list.map(one => (one.number === record.number ? record : one)),
});

/** The result of an attempt. */
export interface PostResult extends AttemptResult, Omit<Attempt, 'number' | 'reason'> {}

/** Next step after an attempt. `disabled` is why the endpoint is disabled now, or null. */
interface AfterAttempt {
  readonly progress: DeliveryProgress;
  readonly disabled: string | null;
}

/** The progress after an attempt that has ended at `now`; `step` is what follows from it by `policies.webhook`. */
export function afterPost(
  before: DeliveryProgress,
  { result, waitSeconds, ...tried }: PostResult,
  { next, state }: RetryStep,
  now: number,
): AfterAttempt {
  const attempts = [{ ...tried, number: before.failures + 1 }, ...before.attempts].slice(0, webhookBounds.attempts);
  if (next === 'advance')
    return { progress: { ...progressFrom(tried.event), lastDeliveredAt: now, attempts }, disabled: null };
  const progress = { ...before, ...state, attempts };
  if (next === 'retry') return { progress, disabled: null };
  const disabled =
    result === 'gone'
      ? 'the endpoint refuses further events (410 Gone)'
      : `event ${tried.event} could not be delivered in ${state.failures} attempts`;
  return { progress, disabled };
}

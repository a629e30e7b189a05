/** Delivers the events of the journal to one endpoint: in order, each at least once, the next one when the last one has arrived. */
import { Delivery, type Settlement } from '../../src/delivery/delivery.ts';
import { policies } from '../../src/delivery/schedules.ts';
import type { JournalTail } from '../background/journal-tail.ts';
import type { Logger } from '../base/logger.ts';
import type { ServiceParts } from '../requests/context.ts';
import { Conflict } from '../store/commit.ts';
import type { EventRecord } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { type Message, messageOf } from './messages.ts';
import type { Poster } from './poster.ts';
import {
  afterPost,
  type DeliveryProgress,
  disable,
  type PostResult,
  type ProgressRecord,
  progressSet,
  WEBHOOKS,
  type WebhookRecord,
  webhooksIn,
} from './records.ts';

/** Entries that are read at a time, and how many of other types are passed before the progress is stored. */
const PAGE = 100;
const PASSED = 1000;
/** Milliseconds that a post may take after the delivery is stopped: one that is cut is posted again. */
const GRACE_MS = 2000;

/** Dependencies of all endpoints. */
export interface EndpointParts extends ServiceParts<Pick<Store, 'webhookProgress' | 'document' | 'commit'>> {
  readonly tail: JournalTail;
  readonly poster: Pick<Poster, 'post'>;
  readonly registryId: string;
  readonly log: Logger;
}

interface WebhookEvent {
  readonly event: EventRecord;
  readonly message: Message;
}

/** The delivery to one endpoint. It ends when the endpoint is disabled or removed. */
export function endpointDelivery(parts: EndpointParts, record: WebhookRecord): Delivery<WebhookEvent, PostResult> {
  const { poster, tail, log, now } = parts;
  const progress = new EndpointProgress(parts, record);
  return new Delivery<WebhookEvent, PostResult>({
    policy: policies.webhook,
    onGiveUp: 'end',
    graceMs: GRACE_MS,
    position: () => progress.read(),
    items: (after, signal) => webhookEvents(parts, record, after ?? 0, signal),
    attempt: async ({ event, message }, signal) => {
      const at = now();
      const posted = await poster.post(record, message, signal);
      return { event: event.id, type: event.type, messageId: message.id, at, ...posted };
    },
    settle: settlement => progress.settle(settlement),
    onFailure: err => {
      // An administrator has changed the endpoint.
      if (!(err instanceof Conflict)) log.warn({ webhook: record.number, err }, 'a webhook waits for the store');
    },
    now,
    sleep: (milliseconds, signal) => tail.sleep(milliseconds, signal),
  });
}

/** The events that the endpoint receives. After many entries of other types, an item without content. */
async function* webhookEvents(
  { tail, registryId }: EndpointParts,
  { types }: WebhookRecord,
  after: number,
  signal: AbortSignal,
) {
  let through = after;
  for await (const page of tail.pages(after, PAGE, signal))
    for (const event of page) {
      const isSubscribed = types === null || (types as readonly string[]).includes(event.type);
      const message = isSubscribed ? messageOf(registryId, event) : null;
      if (!message && event.id - through < PASSED) continue;
      yield { id: event.id, content: message && { event, message } };
      through = event.id;
    }
}

/** The stored progress of an endpoint. */
class EndpointProgress {
  readonly #parts: EndpointParts;
  readonly #number: number;
  #stored: ProgressRecord | null = null;

  constructor(parts: EndpointParts, { number }: WebhookRecord) {
    this.#parts = parts;
    this.#number = number;
  }

  async read() {
    this.#stored = await this.#parts.store.webhookProgress(this.#number);
    const progress = this.#stored?.progress;
    return progress ? { through: progress.through, retry: progress } : null;
  }

  /** Stores what follows from a post. */
  async settle({ item, attempt, step }: Settlement<WebhookEvent, PostResult>): Promise<void> {
    const { progress: before } = this.#stored!;
    if (!attempt) return this.#save({ ...before, through: item.id! });
    const { progress, disabled } = afterPost(before, attempt.result, step, attempt.endedAt);
    if (disabled !== null) return this.#disable(progress, disabled);
    await this.#save(progress);
    this.#report(before, progress);
  }

  async #save(progress: DeliveryProgress): Promise<void> {
    const { version } = this.#stored!;
    await this.#commit([progressSet(this.#number, version, progress)]);
    this.#stored = { version: version + 1, progress };
  }

  async #disable(progress: DeliveryProgress, reason: string): Promise<void> {
    const { store, log, now } = this.#parts;
    const webhooks = webhooksIn(await store.document(WEBHOOKS));
    const record = webhooks.list.find(({ number }) => number === this.#number);
    if (!record || record.disabled) return;
    const set = progressSet(record.number, this.#stored!.version, progress);
    await this.#commit([...disable(webhooks, record, now(), reason).changes, set]);
    log.warn({ webhook: record.number, reason }, 'a webhook was disabled');
  }

  #commit(changes: Parameters<Store['commit']>[0]['changes']) {
    return this.#parts.store.commit({ at: this.#parts.now(), actor: null, requestId: null, changes });
  }

  /** The first failure, and the end of a series of them. */
  #report(before: DeliveryProgress, { failures, attempts }: DeliveryProgress): void {
    const { log } = this.#parts;
    const webhook = this.#number;
    if (failures === 1)
      log.warn({ webhook, reason: attempts[0]?.reason }, 'an event could not be posted; it is tried again');
    if (failures === 0 && before.failures > 0) log.info({ webhook }, 'events are posted again');
  }
}

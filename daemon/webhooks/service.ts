import { ApiError, inputError } from '../../src/contract/codes.ts';
import { journalEventTypes } from '../../src/contract/event-types.ts';
import { webhookIds } from '../../src/contract/ids.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { isWebhookSecret, newWebhookSecret, secretShape } from '../../src/contract/webhooks/scheme.ts';
import type * as api from '../../src/contract/webhooks.ts';
import type { AllowedTargets } from '../base/allowed-targets.ts';
import { sealSecret } from '../base/sealed.ts';
import { iso, isoOrNull } from '../base/time.ts';
import {
  accept,
  actorOf,
  type Context,
  commitFor,
  commitLast,
  idOf,
  retrying,
  Service,
  type ServiceParts,
} from '../requests/context.ts';
import { type Message, messageOf, testMessage } from './messages.ts';
import type { Poster } from './poster.ts';
import * as domain from './records.ts';

/** Events that are counted as waiting: as many as can be read for a list. */
const MAX_WAITING = 100;

/** Dependencies of the service. */
interface WebhookServiceParts extends ServiceParts {
  readonly allowed: AllowedTargets;
  readonly poster: Poster;
  /** The key that seals secrets. */
  readonly sealingKey: Uint8Array;
  readonly registryId: string;
  /** Called when endpoints were created, changed or removed. */
  readonly changed: () => void;
}

interface Endpoint {
  readonly webhooks: domain.Webhooks;
  readonly record: domain.WebhookRecord;
  readonly stored: domain.ProgressRecord;
}

/** The operations on webhooks. A refusal is thrown as an `ApiError`. */
export class WebhookService extends Service<WebhookServiceParts> {
  async create(context: Context, body: Body<'createWebhook'>): Promise<Data<'createWebhook'>> {
    const url = await this.#urlOf(body.url);
    const types = body.types ? journalEventTypes.filter(type => body.types!.includes(type)) : null;
    const given = body.secret ?? null;
    if (given !== null && !isWebhookSecret(given)) throw inputError('secret', `must be ${secretShape}`);
    const secret = given ?? newWebhookSecret();
    const made = await retrying(async () => {
      const [webhooks, through] = await Promise.all([this.#webhooks(), this.store.lastEventId()]);
      const at = this.now();
      const sealed = sealSecret(
        this.parts.sealingKey,
        domain.secretBinding({ number: domain.nextNumber(webhooks), url }),
        secret,
      );
      const maker = { createdBy: actorOf(context), madeBy: idOf(context) };
      const webhook = { url, types, sealed, ...maker, createdAt: at };
      const created = accept(domain.create(webhooks, webhook, through));
      await commitFor(this.store, context, { at, changes: created.changes });
      return created;
    });
    this.parts.changed();
    return { ...(await this.#present(made.record, made.progress)), secret: given === null ? secret : null };
  }

  async list(): Promise<Data<'listWebhooks'>> {
    const list: api.WebhookItem[] = [];
    for (const record of (await this.#webhooks()).list) {
      const stored = await this.store.webhookProgress(record.number);
      // Removed since the read.
      if (stored) list.push(await this.#present(record, stored.progress));
    }
    return { list };
  }

  /** How many endpoints wait for another attempt, or were disabled because attempts have failed; null if there are no endpoints. */
  async failing(): Promise<number | null> {
    const { list } = await this.#webhooks();
    if (list.length === 0) return null;
    const stored = await Promise.all(list.map(({ number }) => this.store.webhookProgress(number)));
    return stored.filter(one => one !== null && one.progress.failures > 0).length;
  }

  async test(webhookId: string): Promise<Data<'testWebhook'>> {
    const { record } = await this.#find(webhookId);
    return this.#post(record, testMessage(record, this.now()));
  }

  /** One that is disabled already stays as it is. */
  disable(context: Context, webhookId: string): Promise<api.WebhookItem> {
    return this.#change(context, webhookId, ({ webhooks, record, stored }, at) => {
      if (record.disabled) return null;
      return { ...domain.disable(webhooks, record, at, 'an administrator has disabled it'), progress: stored.progress };
    });
  }

  /** One that is enabled and waits for nothing stays as it is. */
  enable(context: Context, webhookId: string): Promise<api.WebhookItem> {
    return this.#change(context, webhookId, ({ webhooks, record, stored }, at) =>
      record.disabled || stored.progress.failures > 0 ? domain.enable(webhooks, record, stored, at) : null,
    );
  }

  async remove(context: Context, webhookId: string): Promise<Data<'removeWebhook'>> {
    const removed = await retrying(async () => {
      const { webhooks, record } = await this.#find(webhookId);
      const changes = domain.remove(webhooks, record);
      const result = { webhookId, removed: true };
      return commitLast(this.store, context, { at: this.now(), changes }, () => result);
    });
    this.parts.changed();
    return removed;
  }

  async deliveries(webhookId: string): Promise<Data<'webhookDeliveries'>> {
    const { attempts } = (await this.#find(webhookId)).stored.progress;
    const list = attempts.map(({ event, number, at, status, reason, ...attempt }) => ({
      ...attempt,
      eventId: event,
      attempt: number,
      at: iso(at),
      delivered: reason === null,
      httpStatus: status,
      reason,
    }));
    return { webhookId, list };
  }

  /** Posts the message of an event again whose attempts are listed. */
  async replay(webhookId: string, deliveryId: string): Promise<Data<'replayWebhookDelivery'>> {
    const { record, stored } = await this.#find(webhookId);
    const eventId = stored.progress.attempts.find(({ event }) => `${event}` === deliveryId)?.event;
    const [event] = eventId ? await this.store.events({ after: eventId - 1, through: eventId, limit: 1 }) : [];
    const message = event && messageOf(this.parts.registryId, event);
    if (!message) throw new ApiError(404, 'no attempt in the list of this webhook is for this event');
    return { ...(await this.#post(record, message)), eventId: event.id };
  }

  async #post(record: domain.WebhookRecord, message: Message): Promise<Data<'testWebhook'>> {
    const { result, status: httpStatus, reason, milliseconds } = await this.parts.poster.post(record, message);
    const webhookId = webhookIds.format(record.number);
    return { webhookId, messageId: message.id, delivered: result === 'delivered', httpStatus, reason, milliseconds };
  }

  /** Nothing is written if `decide` returns null. */
  async #change(
    context: Context,
    webhookId: string,
    decide: (
      found: Endpoint,
      at: number,
    ) => (domain.WebhooksChanged & { readonly progress: domain.DeliveryProgress }) | null,
  ): Promise<api.WebhookItem> {
    const item = await retrying(async () => {
      const at = this.now();
      const found = await this.#find(webhookId);
      const changed = decide(found, at);
      if (!changed) return this.#present(found.record, found.stored.progress);
      const data = await this.#present(changed.record, changed.progress);
      return commitLast(this.store, context, { at, changes: changed.changes }, () => data);
    });
    this.parts.changed();
    return item;
  }

  async #webhooks(): Promise<domain.Webhooks> {
    return domain.webhooksIn(await this.store.document(domain.WEBHOOKS));
  }

  async #find(webhookId: string): Promise<Endpoint> {
    const number = webhookIds.parse(webhookId);
    const webhooks = await this.#webhooks();
    const record = webhooks.list.find(one => one.number === number);
    const stored = record && (await this.store.webhookProgress(record.number));
    if (!record || !stored) throw new ApiError(404, 'webhook does not exist');
    return { webhooks, record, stored };
  }

  /** The address as it is stored. Refuses with 1001 one that is not allowed. */
  async #urlOf(text: string): Promise<string> {
    const url = URL.parse(text);
    const problem =
      url === null ? 'must be an address that starts with https://' : await this.parts.allowed.resolve(url);
    if (url === null || problem !== null) throw inputError('url', `${problem}`);
    url.hash = '';
    return url.href;
  }

  async #present(record: domain.WebhookRecord, progress: domain.DeliveryProgress): Promise<api.WebhookItem> {
    const { number, url, types, disabled, createdBy, createdAt } = record;
    const { through, failures, nextAt, lastDeliveredAt } = progress;
    const after = { after: through, limit: MAX_WAITING, types: types ?? journalEventTypes };
    return {
      webhookId: webhookIds.format(number),
      url,
      types: types === null ? null : [...types],
      state: disabled ? 'disabled' : failures > 0 ? 'retrying' : 'active',
      disabledReason: disabled?.reason ?? null,
      disabledAt: disabled ? iso(disabled.at) : null,
      createdBy,
      createdAt: iso(createdAt),
      deliveredThrough: through,
      waiting: (await this.store.events(after)).length,
      failures,
      nextAttemptAt: disabled || nextAt === null ? null : iso(nextAt),
      lastDeliveredAt: isoOrNull(lastDeliveredAt),
    };
  }
}

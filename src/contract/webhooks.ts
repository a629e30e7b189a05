/** Webhooks: the daemon posts the events of the journal to endpoints. */
import { type Static, Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import { journalEventTypes } from './event-types.ts';
import { count, line, maybe, nullable, oneOf, secret, shown, timestamp, token, whole } from './fields.ts';
import { webhookIds } from './ids.ts';
import { webhookBounds } from './limits.ts';

const webhookId = Type.String({ pattern: webhookIds.pattern, examples: ['WHK-1'] });
const params = Type.Object({ webhookId: token({ description: 'id of the webhook', examples: ['WHK-1'] }) });
/** Common part of the operations on one webhook. */
const ofOne = {
  ...adminOnly,
  tokenMay: 'webhooks',
  params,
  errors: [404],
  example: { params: { webhookId: 'WHK-1' } },
} as const;

/** An endpoint, without its secret. */
export const webhook = Type.Object({
  webhookId,
  url: shown('where events are posted to', 'https://hooks.example.com/devmgr'),
  types: nullable(
    Type.Array(oneOf(journalEventTypes), { description: 'types of event that are posted; null for all' }),
  ),
  state: oneOf(['active', 'retrying', 'disabled'], {
    description: 'active; retrying: the last attempt has failed; disabled: nothing is posted',
  }),
  disabledReason: nullable(shown('why it is disabled')),
  disabledAt: nullable(timestamp('when it was disabled')),
  createdBy: nullable(shown('name of the ADMIN who created it', 'admin')),
  createdAt: timestamp('when it was created'),
  deliveredThrough: count('id of the last event that was delivered or has another type; later ones are waiting'),
  waiting: count('events that wait to be delivered; 100 stands for 100 or more'),
  failures: count('failed attempts to deliver the next event'),
  nextAttemptAt: nullable(timestamp('when the next event is tried again; null if it did not fail')),
  lastDeliveredAt: nullable(timestamp('when the last event was delivered')),
});
/** An endpoint, without its secret. */
export type WebhookItem = Static<typeof webhook>;

/** An attempt to deliver an event. */
const attempt = Type.Object({
  eventId: count('id of the event'),
  type: shown('type of the event', 'DEVICE_REGISTERED'),
  messageId: shown('the header webhook-id: the same in each attempt'),
  attempt: whole('number of the attempt for this event, from 1', { min: 1 }),
  at: timestamp('when it was made'),
  milliseconds: count('how long it took'),
  delivered: Type.Boolean(),
  httpStatus: nullable(Type.Integer({ description: 'HTTP status; null without a response' })),
  reason: nullable(shown('why it has failed; null if it was delivered')),
});
/** An attempt to deliver an event. */
export type WebhookAttempt = Static<typeof attempt>;

/** Reports the result of one post. */
const posted = {
  webhookId,
  messageId: shown('the header webhook-id of the message'),
  delivered: Type.Boolean(),
  httpStatus: nullable(Type.Integer({ description: 'HTTP status; null without a response' })),
  reason: nullable(shown('why it has failed; null if it was delivered')),
  milliseconds: count('how long it took'),
};

/** Operations on webhooks. */
export const webhookOperations = additions('Webhooks', {
  /** The endpoint gets the events that are committed from now on. The only response with a secret that the daemon made. */
  createWebhook: {
    summary: 'Create a webhook',
    description: `Each event of the journal from now on is posted to the address as the stream of notifications sends it, in order and signed by the scheme of Standard Webhooks. Loopback, private and other special addresses, and http, are refused unless the operator of the daemon allows them. A registry has at most ${webhookBounds.endpoints} webhooks.`,
    ...adminOnly,
    tokenMay: 'webhooks',
    stepUp: true,
    body: Type.Object({
      url: line(webhookBounds.url, {
        description: 'address that starts with https://, without a user name and a password',
        examples: ['https://hooks.example.com/devmgr'],
      }),
      types: maybe(
        Type.Array(oneOf(journalEventTypes), {
          minItems: 1,
          maxItems: journalEventTypes.length,
          description: `types of event to post, of ${journalEventTypes.join(', ')}; absent or null for all`,
          examples: [['DEVICE_REGISTERED', 'DEVICE_LOCKED']],
        }),
      ),
      secret: maybe(
        secret(
          { min: 1, max: webhookBounds.secret },
          { description: 'whsec_ and base64 of 24 to 64 bytes; the daemon makes one if it is absent or null' },
        ),
      ),
    }),
    data: Type.Object({
      ...webhook.properties,
      secret: nullable(shown('the secret that the daemon made, this one time; null if the request had one')),
    }),
    example: { body: { url: 'https://hooks.example.com/devmgr', types: ['DEVICE_REGISTERED', 'DEVICE_LOCKED'] } },
  },

  /** In order of creation. */
  listWebhooks: {
    summary: 'List webhooks',
    ...adminOnly,
    tokenMay: 'webhooks',
    data: Type.Object({ list: Type.Array(webhook) }),
  },

  /** Posts a message of the type WEBHOOK_TEST once. Changes nothing. A disabled endpoint can be tested. */
  testWebhook: {
    summary: 'Post a test message to a webhook',
    description:
      'Posts a signed message of the type WEBHOOK_TEST once. The response shows whether the endpoint accepted it.',
    ...ofOne,
    data: Type.Object(posted),
  },

  /** Idempotent. */
  disableWebhook: {
    summary: 'Disable a webhook',
    description: 'Nothing is posted until it is enabled. Its place in the journal is kept.',
    ...ofOne,
    stepUp: true,
    data: webhook,
  },

  /** Continues where the endpoint stopped. If its next event is to be tried later, it is tried at once. */
  enableWebhook: {
    summary: 'Enable a webhook',
    description:
      'Continues with the event after the last delivered one, at once, also if it is enabled and waits for its next attempt.',
    ...ofOne,
    stepUp: true,
    data: webhook,
  },

  /** Permanent: the secret and the attempts are deleted. */
  removeWebhook: {
    summary: 'Remove a webhook',
    description: 'Permanent. Events that were not delivered are not posted.',
    ...ofOne,
    stepUp: true,
    data: Type.Object({ webhookId, removed: Type.Boolean() }),
  },

  /** The latest attempt first. */
  webhookDeliveries: {
    summary: 'List the last attempts of a webhook',
    description: `The last ${webhookBounds.attempts} attempts to deliver an event, the latest first.`,
    ...ofOne,
    data: Type.Object({ webhookId, list: Type.Array(attempt) }),
  },

  /** Once, whatever comes of it. Changes nothing: neither the list of attempts nor what is delivered next. */
  replayWebhookDelivery: {
    summary: 'Post an event to a webhook again',
    description:
      'Posts the message of an event in the list of attempts once more, with the same `webhook-id`, for a receiver that has lost it. The response shows whether the endpoint accepted it. A disabled endpoint gets it, too. 404 if no attempt in the list is for the event.',
    ...ofOne,
    params: Type.Object({
      ...params.properties,
      deliveryId: token({ description: '`eventId` of an attempt in the list', examples: ['17'] }),
    }),
    data: Type.Object({ ...posted, eventId: count('id of the event') }),
    example: { params: { webhookId: 'WHK-1', deliveryId: '17' } },
  },
});

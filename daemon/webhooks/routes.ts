import type { Bindings } from '../http/bindings.ts';
import type { WebhookService } from './service.ts';

/** The services of webhooks. */
interface WebhookServices {
  readonly webhooks: WebhookService;
}

/** Webhooks and their deliveries. */
export const webhookOperations = (to: WebhookServices): Bindings => ({
  createWebhook: ({ context, body }) => to.webhooks.create(context, body),
  listWebhooks: () => to.webhooks.list(),
  testWebhook: ({ params }) => to.webhooks.test(params.webhookId),
  disableWebhook: ({ context, params }) => to.webhooks.disable(context, params.webhookId),
  enableWebhook: ({ context, params }) => to.webhooks.enable(context, params.webhookId),
  removeWebhook: ({ context, params }) => to.webhooks.remove(context, params.webhookId),
  webhookDeliveries: ({ params }) => to.webhooks.deliveries(params.webhookId),
  replayWebhookDelivery: ({ params }) => to.webhooks.replay(params.webhookId, params.deliveryId),
});

/** Webhooks: events are delivered from now on. */
import { AllowedTargets } from '../base/allowed-targets.ts';
import type { StartSubject } from '../http/subject.ts';
import { WebhookDeliveries } from './deliveries.ts';
import { Poster } from './poster.ts';
import { WEBHOOKS, webhooksIn } from './records.ts';
import { WebhookService } from './service.ts';

export const startWebhooks: StartSubject = ({ settings, log, stack, store, instance, now, offers }) => {
  const allowed = new AllowedTargets(settings.webhookAllow);
  const sealingKey = instance.secret('webhooks');
  const poster = new Poster({ allowed, sealingKey, now });
  const deliveries = new WebhookDeliveries({ store, poster, registryId: instance.id, log, now });
  stack.start(deliveries);
  const parts = { store, allowed, poster, sealingKey, registryId: instance.id, now };
  const webhooks = new WebhookService({ ...parts, changed: () => deliveries.changed() });
  offers.webhooks = async () => webhooksIn(await store.document(WEBHOOKS)).list;
  return {
    operations: {
      createWebhook: ({ context, body }) => webhooks.create(context, body),
      listWebhooks: () => webhooks.list(),
      testWebhook: ({ params }) => webhooks.test(params.webhookId),
      disableWebhook: ({ context, params }) => webhooks.disable(context, params.webhookId),
      enableWebhook: ({ context, params }) => webhooks.enable(context, params.webhookId),
      removeWebhook: ({ context, params }) => webhooks.remove(context, params.webhookId),
      webhookDeliveries: ({ params }) => webhooks.deliveries(params.webhookId),
      replayWebhookDelivery: ({ params }) => webhooks.replay(params.webhookId, params.deliveryId),
    },
    gauges: async () => {
      const value = await webhooks.failing();
      if (value === null) return {};
      const help = 'Webhooks that are tried again or were disabled for failures';
      return { devmgr_webhooks_failing: { help, value } };
    },
  };
};

/** Webhooks: events are delivered from now on. */
import { AllowedTargets } from '../delivery/webhooks/allowed.ts';
import { WebhookDeliveries } from '../delivery/webhooks/deliveries.ts';
import { Poster } from '../delivery/webhooks/poster.ts';
import { WEBHOOKS, webhooksIn } from '../domain/webhook.ts';
import type { StartSubject } from '../http/subject.ts';
import { WebhookService } from '../services/webhooks.ts';
import { webhookOperations } from './routes.ts';

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
    operations: webhookOperations({ webhooks }),
    gauges: async () => {
      const value = await webhooks.failing();
      if (value === null) return {};
      const help = 'Webhooks that are tried again or were disabled for failures';
      return { devmgr_webhooks_failing: { help, value } };
    },
  };
};

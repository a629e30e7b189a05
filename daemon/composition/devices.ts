/** What concerns devices: their service, proofs, files, and deliveries of their events. */
import { AllowedTargets } from '../delivery/webhooks/allowed.ts';
import { WebhookDeliveries } from '../delivery/webhooks/deliveries.ts';
import { Poster } from '../delivery/webhooks/poster.ts';
import type { Instance } from '../home/instance.ts';
import type { RegistryServices } from '../http/routes/operations.ts';
import { now, type Registry, type Start } from '../registry.ts';
import { AppService } from '../services/apps.ts';
import { BackupService } from '../services/backups.ts';
import { DeviceExport } from '../services/device-export.ts';
import { DeviceService } from '../services/devices.ts';
import { EventService } from '../services/events.ts';
import { fileBudget } from '../services/file-budget.ts';
import { Challenges } from '../services/proofs/challenges.ts';
import { ProofPolicies } from '../services/proofs/policies.ts';
import { ProofService } from '../services/proofs/proof-service.ts';
import { systemRoots } from '../services/proofs/system-roots.ts';
import { TrustService } from '../services/proofs/trust-service.ts';
import { TrustedRoots } from '../services/proofs/trusted.ts';
import { statisticsAt } from '../services/statistics.ts';
import { proofSweep } from '../services/sweep.ts';
import { WebhookService } from '../services/webhooks.ts';
import type { Checks } from './accounts.ts';

type DeviceServices = Pick<
  RegistryServices,
  'apps' | 'backups' | 'devices' | 'events' | 'exports' | 'policies' | 'proofs' | 'statistics' | 'trust' | 'webhooks'
>;

/** The services of devices. Webhooks are delivered from now on. */
export function deviceServices(
  start: Start,
  { store, blobs, access }: Registry,
  { passwords, guessing }: Checks,
  instance: Instance,
): DeviceServices {
  const files = { store, blobs, budget: fileBudget(start.settings.files, blobs, store), now };
  const roots = new TrustedRoots(store);
  const policies = new ProofPolicies({ store, roots, now });
  const challenges = new Challenges(instance.secret('challenges'));
  const sweep = proofSweep({ store, now });
  start.stack.add(() => sweep.stop());
  return {
    apps: new AppService(files),
    backups: new BackupService(files),
    devices: new DeviceService({ store, passwords, guessing, policies, now, access }),
    events: new EventService(store),
    exports: new DeviceExport(store),
    policies,
    proofs: new ProofService({ store, challenges, roots, policies, registryId: instance.id, now }),
    statistics: () => statisticsAt(store, now()),
    trust: new TrustService({ store, systemRoots, now }),
    webhooks: startWebhooks(start, { store }, instance),
  };
}

function startWebhooks({ settings, log, stack }: Start, { store }: Pick<Registry, 'store'>, instance: Instance) {
  const allowed = new AllowedTargets(settings.webhookAllow ?? []);
  const sealingKey = instance.secret('webhooks');
  const poster = new Poster({ allowed, sealingKey, now });
  const deliveries = new WebhookDeliveries({ store, poster, registryId: instance.id, log, now });
  deliveries.start();
  stack.add(() => deliveries.stop());
  return new WebhookService({ store, allowed, poster, sealingKey, changed: () => deliveries.changed(), now });
}

/** What concerns devices: their service, proofs, files, and deliveries of their events. */

import { CredentialRemovals } from '../background/credential-removals.ts';
import { DirectoryRuns } from '../background/directory-runs.ts';
import { DueLeavers, EarlierDevices, OverdueLoans } from '../background/due.ts';
import { AllowedTargets } from '../delivery/webhooks/allowed.ts';
import { WebhookDeliveries } from '../delivery/webhooks/deliveries.ts';
import { Poster } from '../delivery/webhooks/poster.ts';
import type { Instance } from '../home/instance.ts';
import { now, type Registry, type Start } from '../registry.ts';
import { AppService } from '../services/apps.ts';
import { BackupService } from '../services/backups.ts';
import { DeviceExport } from '../services/device-export.ts';
import { DeviceService } from '../services/devices.ts';
import { DirectorySettingsService } from '../services/directory/settings.ts';
import { DirectorySync } from '../services/directory/sync.ts';
import { EventService } from '../services/events.ts';
import { fileBudget } from '../services/file-budget.ts';
import { CredentialService } from '../services/issuing/credential-service.ts';
import { KeyResetService } from '../services/issuing/key-reset-service.ts';
import { ownAccounts } from '../services/issuing/own-accounts.ts';
import { PinService } from '../services/issuing/pin-service.ts';
import { ProviderService } from '../services/issuing/provider-service.ts';
import { reconciler } from '../services/issuing/reconcile.ts';
import { Leavers } from '../services/people/leavers.ts';
import { MatchingDevices } from '../services/people/matching-devices.ts';
import { PeoplePolicies } from '../services/people/people-policies.ts';
import { PeopleService } from '../services/people/people-service.ts';
import { RefusedRequests } from '../services/people/refused.ts';
import { Challenges } from '../services/proofs/challenges.ts';
import { ProofPolicies } from '../services/proofs/policies.ts';
import { ProofService } from '../services/proofs/proof-service.ts';
import { systemRoots } from '../services/proofs/system-roots.ts';
import { TrustService } from '../services/proofs/trust-service.ts';
import { TrustedRoots } from '../services/proofs/trusted.ts';
import { ReceiptService } from '../services/receipts/receipt-service.ts';
import { ScimGroups } from '../services/scim/scim-groups.ts';
import { ScimUsers } from '../services/scim/scim-users.ts';
import { statisticsAt } from '../services/statistics.ts';
import { proofSweep } from '../services/sweep.ts';
import { WebhookService } from '../services/webhooks.ts';
import type { Store } from '../store/store.ts';
import type { AccountServices, Checks } from './accounts.ts';

/** The services of devices. Webhooks are delivered from now on. */
export function deviceServices(
  start: Start,
  { store, blobs, access }: Registry,
  { passwords, guessing }: Checks,
  accounts: AccountServices,
  instance: Instance,
) {
  const files = { store, blobs, budget: fileBudget(start.settings.fileBounds, blobs, store), now };
  const roots = new TrustedRoots(store);
  const policies = new ProofPolicies({ store, roots, now });
  const challenges = new Challenges(instance.secret('challenges'));
  const sweep = proofSweep({ store, now });
  start.stack.add(() => sweep.stop());
  const peoplePolicies = new PeoplePolicies({ store, now });
  const leavers = startLeavers(start, store, peoplePolicies);
  const refused = new RefusedRequests({ store, log: start.log, now });
  return {
    apps: new AppService(files),
    backups: new BackupService(files),
    devices: new DeviceService({ store, passwords, guessing, policies, owners: peoplePolicies, now, access }),
    events: new EventService(store),
    exports: new DeviceExport(store),
    ...startDirectory(start, { store, leavers, refused }, instance),
    ...startIssuing(start, store, accounts, instance),
    people: new PeopleService({ store, leavers, now }),
    refused,
    matching: new MatchingDevices({ store, now }),
    scim: {
      users: new ScimUsers({ store, leavers, refused, now }),
      groups: new ScimGroups({ store, refused, now }),
      refused,
    },
    peoplePolicies,
    policies,
    proofs: new ProofService({ store, challenges, roots, policies, registryId: instance.id, now }),
    receipts: startReceipts(start, store, { roots, registryId: instance.id, secret: instance.secret('receipts') }),
    statistics: () => statisticsAt(store, now()),
    trust: new TrustService({ store, systemRoots, now }),
    webhooks: startWebhooks(start, store, instance),
  };
}

function startLeavers({ log, stack }: Start, store: Store, policies: PeoplePolicies) {
  const leavers = new Leavers({ store, policies });
  stack.start(new DueLeavers({ store, leavers, log, now }));
  if (store.sharedWork) stack.start(new EarlierDevices({ store, log, now }));
  return leavers;
}

function startDirectory(
  { log, stack }: Start,
  { store, ...parts }: { readonly store: Store; readonly leavers: Leavers; readonly refused: RefusedRequests },
  instance: Instance,
) {
  const settings = new DirectorySettingsService({ store, sealingKey: instance.secret('directory'), now });
  const sync = new DirectorySync({ ...parts, store, settings, now });
  stack.start(new DirectoryRuns({ store, settings, sync, log, now }));
  return { directorySettings: settings, directorySync: sync };
}

function startIssuing(
  { settings, log, stack }: Start,
  store: Store,
  { passkeys, signInPolicies: policies, stepUp }: AccountServices,
  instance: Instance,
) {
  const sealingKey = instance.secret('providers');
  const own = ownAccounts({ store, passkeys, policies, stepUp, now });
  const providers = new ProviderService({ store, sealingKey, allowed: settings.webhookAllow, own, now });
  const parts = { store, providers, registryId: instance.id, now };
  const credentials = new CredentialService(parts);
  stack.start(new CredentialRemovals({ store, providers, credentials, log, now }));
  const reconcile = reconciler({ ...parts, credentials });
  const resets = new KeyResetService({ store, providers, now });
  return { providers, credentials, reconcile, resets, pins: new PinService({ store, now }) };
}

function startReceipts(
  { log, stack }: Start,
  store: Store,
  parts: { readonly roots: TrustedRoots; readonly registryId: string; readonly secret: Uint8Array },
) {
  stack.start(new OverdueLoans({ store, log, now }));
  return new ReceiptService({ ...parts, store, now });
}

function startWebhooks({ settings, log, stack }: Start, store: Store, instance: Instance) {
  const allowed = new AllowedTargets(settings.webhookAllow);
  const sealingKey = instance.secret('webhooks');
  const poster = new Poster({ allowed, sealingKey, now });
  const deliveries = new WebhookDeliveries({ store, poster, registryId: instance.id, log, now });
  stack.start(deliveries);
  const changed = () => deliveries.changed();
  return new WebhookService({ store, allowed, poster, sealingKey, registryId: instance.id, changed, now });
}

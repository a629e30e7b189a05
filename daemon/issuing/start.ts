/** Issuing: keys that are registered at providers, their PINs and their resets. */

import { CredentialRemovals } from '../background/credential-removals.ts';
import { DueWork } from '../background/due-work.ts';
import type { StartSubject } from '../http/subject.ts';
import { CredentialService } from '../services/issuing/credential-service.ts';
import { KeyResetService } from '../services/issuing/key-reset-service.ts';
import { ownAccounts } from '../services/issuing/own-accounts.ts';
import { PinService } from '../services/issuing/pin-service.ts';
import { ProviderService } from '../services/issuing/provider-service.ts';
import { reconciler } from '../services/issuing/reconcile.ts';
import { issuingOperations } from './routes.ts';

export const startIssuing: StartSubject = ({ settings, log, stack, store, instance, now, offers }) => {
  const { passkeys, policies } = offers.signIn;
  const own = ownAccounts({ store, passkeys, policies, stepUp: offers.accounts.stepUp, now });
  const sealingKey = instance.secret('providers');
  const providers = new ProviderService({ store, sealingKey, allowed: settings.webhookAllow, own, now });
  const parts = { store, providers, registryId: instance.id, now };
  const credentials = new CredentialService(parts);
  stack.start(new DueWork({ store, log }, new CredentialRemovals({ store, providers, credentials, log, now })));
  return {
    operations: issuingOperations({
      providers,
      credentials,
      reconcile: reconciler({ ...parts, credentials }),
      resets: new KeyResetService({ store, providers, now }),
      pins: new PinService({ store, now }),
    }),
    gauges: async () => {
      const value = await providers.pending();
      if (value === null) return {};
      return { devmgr_idp_pending: { help: 'Credentials of keys that providers still have to remove', value } };
    },
  };
};

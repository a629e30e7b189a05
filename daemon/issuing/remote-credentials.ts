/** Credentials at their providers: looked up and removed. */
import { ProviderUnavailable } from '../base/errors.ts';
import { Service, type ServiceParts } from '../requests/context.ts';
import * as domain from './credential.ts';
import type { ProviderRecord } from './provider.ts';
import type { ProviderService } from './provider-service.ts';

/** Milliseconds for which a provider may not list or find what it has accepted just now. */
export const SETTLES_MS = 10 * 60_000;

interface RemoteParts extends ServiceParts {
  readonly providers: Pick<ProviderService, 'ask'>;
}

/** Methods reject as `ProviderService.ask` does. */
export class RemoteCredentials extends Service<RemoteParts> {
  /** The id at the provider; null if it does not list the credential, or keeps no list. */
  async lookUp(provider: ProviderRecord, { account, credentialId, label }: domain.CredentialRecord) {
    const list = (await this.parts.providers.ask(provider, api => api.list(account))) ?? [];
    return list.find(one => one.credentialId === credentialId || one.label === label)?.remoteId ?? null;
  }

  /**
   * Removes it at the provider. Resolves with the change that follows; null if none does: as long as a request whose answer was lost may
   * still register it, or the provider may not know yet what it has accepted, it has to be removed again.
   */
  async remove(
    provider: ProviderRecord,
    credential: domain.CredentialRecord,
  ): Promise<ReturnType<typeof domain.removed> | null> {
    const { account, credentialId, issuedAt, uncertainAt } = credential;
    let { remoteId } = credential;
    let isGone = credentialId === null;
    if (credentialId !== null) {
      remoteId ??= await this.lookUp(provider, credential);
      const request = this.parts.providers.ask(provider, api => api.remove(account, { remoteId, credentialId }));
      const wasThere = await request.catch(async error => {
        // The provider may have removed it: it stays to be removed, also if the device is unlocked before that is known.
        const changes = [domain.givenUp(credential, this.now())];
        if (error instanceof ProviderUnavailable && uncertainAt === null)
          await this.store.commit({ at: this.now(), actor: null, requestId: null, changes });
        throw error;
      });
      isGone = wasThere && remoteId !== null;
    }
    const at = this.now();
    if (isGone || (issuedAt ?? uncertainAt ?? at) <= at - SETTLES_MS) return domain.removed(credential, at);
    return uncertainAt === null ? domain.givenUp(credential, at) : null;
  }
}

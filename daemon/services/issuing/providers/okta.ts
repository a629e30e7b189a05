/**
 * Okta, by its Factors API: a WebAuthn factor is enrolled and activated on behalf of a person. Source: developer.okta.com, "UserFactor". Its
 * preregistration API is bound to one fulfillment provider, so that it is of no use here. No organization was available to try it with.
 */
import { ProviderAway } from '../../../delivery/provider/errors.ts';
import type { IssuingProvider, NewRemote } from './provider-api.ts';
import { base64url, objectIn, objectsIn, type ProviderAccess, ProviderRequests, textIn, userIdOf } from './requests.ts';

/** Milliseconds that a challenge of Okta lives. */
const CHALLENGE_MS = 5 * 60_000;

export class Okta implements IssuingProvider {
  readonly #requests: ProviderRequests;
  readonly #origin: string;
  readonly #authorization: string;
  readonly #now: () => number;

  /** `address`: of the organization. The secret is an API token. */
  constructor(address: string, access: ProviderAccess) {
    this.#requests = new ProviderRequests('Okta', address, access);
    this.#origin = new URL(address).origin;
    this.#authorization = `SSWS ${access.secret}`;
    this.#now = access.now;
  }

  async test(): Promise<void> {
    await this.#send('/api/v1/users?limit=1');
  }

  async account(userName: string): Promise<string> {
    const user = await this.#send(userOf(userName), { mayMiss: true });
    return userIdOf(user, user && objectIn(user, 'profile').login, userName, 'Okta');
  }

  async options(account: string) {
    const body = { factorType: 'webauthn', provider: 'FIDO' };
    const factor = (await this.#send(factorsOf(account), { method: 'POST', body }))!;
    const activation = objectIn(objectIn(factor, '_embedded'), 'activation');
    const { hostname } = new URL(this.#origin);
    const rp = { id: hostname, name: hostname, ...(activation.rp as object | undefined) };
    return {
      origin: this.#origin,
      options: { ...activation, rp, challenge: base64url(textIn(activation, 'challenge')) },
      expiresAt: this.#now() + CHALLENGE_MS,
      handle: textIn(factor, 'id'),
    };
  }

  async finish({ account, response, handle }: NewRemote): Promise<string> {
    if (handle === null) throw new ProviderAway('the factor that was begun at Okta is not known');
    const { attestationObject: attestation, clientDataJSON: clientData } = response.response;
    const path = `${factorsOf(account)}/${encodeURIComponent(handle)}/lifecycle/activate`;
    return textIn((await this.#send(path, { method: 'POST', body: { attestation, clientData } }))!, 'id');
  }

  async list(account: string) {
    const answer = await this.#send(factorsOf(account), { mayMiss: true });
    return objectsIn(answer ?? {}, 'value')
      .filter(({ factorType, status }) => factorType === 'webauthn' && status === 'ACTIVE')
      .map(factor => {
        const { credentialId } = (factor.profile ?? {}) as { credentialId?: unknown };
        const known = typeof credentialId === 'string' ? base64url(credentialId) : null;
        return { remoteId: textIn(factor, 'id'), credentialId: known, label: null };
      });
  }

  async remove(account: string, { remoteId }: { readonly remoteId: string | null }): Promise<boolean> {
    if (remoteId === null) return false;
    const path = `${factorsOf(account)}/${encodeURIComponent(remoteId)}`;
    return (await this.#send(path, { method: 'DELETE', mayMiss: true })) !== null;
  }

  #send(path: string, request: Parameters<ProviderRequests['send']>[1] = {}) {
    return this.#requests.send(this.#origin + path, { ...request, authorization: this.#authorization });
  }
}

const userOf = (account: string): string => `/api/v1/users/${encodeURIComponent(account)}`;
const factorsOf = (account: string): string => `${userOf(account)}/factors`;

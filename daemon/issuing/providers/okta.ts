/**
 * Okta, by its Factors API: a WebAuthn factor is enrolled and activated on behalf of a person. Source: developer.okta.com,
 * "UserFactor". Its preregistration API is bound to one fulfillment provider, so that it is of no use here. No organization was
 * available to try it with.
 */
import { type IssuingProvider, ProviderRefused } from './provider-api.ts';
import { base64url, listIn, objectIn, type ProviderAccess, requestsTo, textIn, userIdOf } from './requests.ts';

/** Milliseconds that a challenge of Okta lives. */
const CHALLENGE_MS = 5 * 60_000;

/** `address`: of the organization. The secret is an API token. */
export function okta(address: string, access: ProviderAccess): IssuingProvider {
  const { origin, hostname } = new URL(address);
  const send = requestsTo('Okta', address, access, `SSWS ${access.secret}`);
  const userOf = (account: string) => `${origin}/api/v1/users/${encodeURIComponent(account)}`;
  const factorsOf = (account: string) => `${userOf(account)}/factors`;
  return {
    async test() {
      await send(`${origin}/api/v1/users?limit=1`);
    },
    async account(userName) {
      const user = await send(userOf(userName), { mayMiss: true });
      return userIdOf(user, user && objectIn(user, 'profile').login, userName, 'Okta');
    },
    async options(account) {
      const body = { factorType: 'webauthn', provider: 'FIDO' };
      const factor = (await send(factorsOf(account), { method: 'POST', body }))!;
      const activation = objectIn(objectIn(factor, '_embedded'), 'activation');
      const rp = { id: hostname, name: hostname, ...(activation.rp as object | undefined) };
      return {
        origin,
        options: { ...activation, rp, challenge: base64url(textIn(activation, 'challenge')) },
        expiresAt: access.now() + CHALLENGE_MS,
        handle: textIn(factor, 'id'),
      };
    },
    async finish({ account, response, handle }) {
      if (handle === null) throw new ProviderRefused('the factor that was begun at Okta is not known');
      const { attestationObject: attestation, clientDataJSON: clientData } = response.response;
      const url = `${factorsOf(account)}/${encodeURIComponent(handle)}/lifecycle/activate`;
      return textIn((await send(url, { method: 'POST', body: { attestation, clientData } }))!, 'id');
    },
    async list(account) {
      const answer = (await send(factorsOf(account), { mayMiss: true })) ?? { value: [] };
      return listIn(answer)
        .filter(({ factorType, status }) => factorType === 'webauthn' && status === 'ACTIVE')
        .map(factor => {
          const { credentialId } = (factor.profile ?? {}) as { credentialId?: unknown };
          const known = typeof credentialId === 'string' ? base64url(credentialId) : null;
          return { remoteId: textIn(factor, 'id'), credentialId: known, label: null };
        });
    },
    async remove(account, { remoteId }) {
      if (remoteId === null) return false;
      const url = `${factorsOf(account)}/${encodeURIComponent(remoteId)}`;
      return (await send(url, { method: 'DELETE', mayMiss: true })) !== null;
    },
  };
}

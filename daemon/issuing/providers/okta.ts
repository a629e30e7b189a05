/**
 * Okta, by its Factors API: a WebAuthn factor is enrolled and activated on behalf of a person. Source: developer.okta.com,
 * "UserFactor". Its preregistration API is bound to one fulfillment provider, so that it is of no use here. No organization was
 * available to try it with.
 */
import { driftBounds } from '../../../src/contract/limits.ts';
import { ProviderAway } from '../../base/errors.ts';
import { type IssuingProvider, ProviderRefused, type RemoteUser } from './provider-api.ts';
import {
  base64url,
  type JsonObject,
  listIn,
  objectIn,
  type ProviderAccess,
  requestsTo,
  textIn,
  userIdOf,
} from './requests.ts';

/** Milliseconds for which a challenge of Okta is valid. */
const CHALLENGE_MS = 5 * 60_000;

/** Users of one page, the most that Okta allows. */
const USERS_OF_PAGE = 200;
/** States of users who cannot sign in until an administrator changes that. Lists lack those who are deprovisioned. */
const ended: ReadonlySet<string> = new Set(['SUSPENDED', 'DEPROVISIONED']);

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
    async users() {
      const found: RemoteUser[] = [];
      for (let next: string | null = `${origin}/api/v1/users?limit=${USERS_OF_PAGE}`; next !== null; ) {
        const answer: JsonObject = (await send(next, { withNext: true }))!;
        for (const user of listIn(answer)) {
          const userName = textIn(objectIn(user, 'profile'), 'login');
          found.push({ id: textIn(user, 'id'), userName, isActive: !ended.has(textIn(user, 'status')) });
        }
        if (found.length > driftBounds.users) throw new ProviderAway(`Okta has more than ${driftBounds.users} users`);
        next = typeof answer.next === 'string' ? answer.next : null;
        // The token is sent only to the organization, whatever address a response contains.
        if (next !== null && !next.startsWith(`${origin}/api/v1/users?`))
          throw new ProviderAway('the next page of a list is at another address than Okta');
      }
      return found;
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

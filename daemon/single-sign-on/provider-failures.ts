/** Requests to a provider of single sign-on: what the library throws, and which error the sign-in ends with. */

import * as client from 'openid-client';
import { ClientRefused, ProviderAway, SessionOver, SignInDenied, TokenRefused } from '../base/errors.ts';
import type { ProviderFetch } from '../base/fetch.ts';

/** Calls the provider, with its failures as errors of a sign-in. */
export const refusing = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(error => {
    throw translated(error);
  });

/** Calls the provider before a sign-in has a token: whatever is wrong with its answer counts as a provider that does not respond. */
export const beginning = <T>(work: () => Promise<T>): Promise<T> =>
  refusing(work).catch(error => {
    throw error instanceof TokenRefused ? new ProviderAway(error.message, { cause: error }) : error;
  });

/** Calls the provider about a session. The session has ended if the library reports `invalid_grant` or 401. */
export const ending = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(error => {
    if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant')
      throw new SessionOver(error.error);
    if (error instanceof client.WWWAuthenticateChallengeError && error.status === 401) throw new SessionOver('401');
    throw translated(error);
  });

/** The library wraps what `fetch` rejects with. Nothing that the provider has sent is in a message. */
export function translated(error: unknown): Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ProviderAway || cause instanceof TokenRefused) return cause;
  if (error instanceof client.AuthorizationResponseError) return new SignInDenied('the provider refused the sign-in');
  if (error instanceof client.ResponseBodyError) {
    const code = /^[a-z_]{1,40}$/.test(error.error) ? error.error : 'an error';
    return new SignInDenied(`the provider refuses (${code})`);
  }
  return new TokenRefused(error instanceof Error ? error.message : 'not a valid response of a provider', {
    cause: error,
  });
}

/** Errors of RFC 6749 and RFC 8628 about what was sent with an accepted client. Some providers send them with 401 or 403. */
const aboutGrants: ReadonlySet<unknown> = new Set([
  'access_denied',
  'authorization_pending',
  'expired_token',
  'invalid_grant',
  'slow_down',
]);

/** Rejects with `ClientRefused` if a provider refuses the client. Only POST has the secret. `answered`: null if accepted. */
export function withClient(fetch: ProviderFetch, answered: (refused: ClientRefused | null) => void): ProviderFetch {
  return async (url, options) => {
    const response = await fetch(url, options);
    if (options.method !== 'POST') return response;
    const refused = response.ok ? null : await refusalIn(response);
    if (response.ok || refused) answered(refused);
    if (refused) throw refused;
    return response;
  };
}

async function refusalIn(response: Response): Promise<ClientRefused | null> {
  const { status } = response;
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { readonly error?: unknown } | null;
  const code = body?.error;
  const isNamed = code === 'invalid_client' || code === 'unauthorized_client';
  if (!isNamed && ((status !== 401 && status !== 403) || aboutGrants.has(code))) return null;
  const what = isNamed ? `${code}, HTTP ${status}` : `HTTP ${status}`;
  // An accepted client that may not use a grant: RFC 6749, 5.2. Keycloak also sends this code, with 401, if the secret is wrong.
  return code === 'unauthorized_client' && status === 400
    ? new ClientRefused(`the provider refuses a grant of this client (${what}): check client id and grants there`)
    : new ClientRefused(
        `the provider refuses the client secret (${what}): it is wrong or has expired. Create one there, then: devmgr providers update oidc --client-secret-file FILE`,
      );
}

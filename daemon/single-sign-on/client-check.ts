/** Whether the provider accepts the registry as its client: id and secret. */
import { ClientRefused } from '../base/errors.ts';
import type { ProviderFetch } from '../base/fetch.ts';

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

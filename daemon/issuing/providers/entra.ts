/**
 * Microsoft Entra ID, by Microsoft Graph v1.0: fido2AuthenticationMethod. Source: learn.microsoft.com, "fido2AuthenticationMethod
 * resource type",
 * "creationOptions" and "Create fido2AuthenticationMethod". No tenant was available to try it with.
 */

import { isObject } from '../../../src/contract/json-object.ts';
import { driftBounds } from '../../../src/contract/limits.ts';
import { publicCloud } from '../../../src/contract/provider-fields.ts';
import { ProviderAway } from '../../base/errors.ts';
import type { ProviderRecord } from '../provider.ts';
import { type IssuingProvider, ProviderRefused } from './provider-api.ts';
import {
  base64url,
  booleanIn,
  type JsonObject,
  type JsonRequest,
  listIn,
  objectIn,
  type ProviderAccess,
  requestsTo,
  textIn,
  userIdOf,
} from './requests.ts';

/** Addresses are those of a national cloud; null for the public one. */
type Settings = Pick<ProviderRecord, 'tenant' | 'clientId' | 'loginAddress' | 'address'>;

const ORIGIN = 'https://login.microsoft.com';
/** Minutes for which a challenge is valid: enough for a touch, and for a waiting provisioning line. Graph accepts 5 to 43,200. */
const CHALLENGE_MINUTES = 10;
/** Most pages of one list: far more than a person has keys. */
const PAGES = 20;
/** Most pages of all users: as many as the registry compares. */
const USERS_OF_PAGE = 999;
const USER_PAGES = Math.ceil(driftBounds.users / USERS_OF_PAGE);
/** A token is replaced this many milliseconds before it expires. */
const TOKEN_SLACK = 60_000;

/** `secret`: the client secret. */
export function entra(settings: Settings, access: ProviderAccess): IssuingProvider {
  const loginAddress = settings.loginAddress ?? publicCloud.login;
  const graphAddress = settings.address ?? publicCloud.graph;
  const toLogin = requestsTo('Entra ID', loginAddress, access);
  const toGraph = requestsTo('Entra ID', graphAddress, access);
  let token = { text: '', until: 0 };

  async function newToken(): Promise<string> {
    const client = { client_id: settings.clientId!, client_secret: access.secret };
    const form = { grant_type: 'client_credentials', ...client, scope: `${graphAddress}/.default` };
    const address = `${loginAddress}/${encodeURIComponent(settings.tenant!)}/oauth2/v2.0/token`;
    const answer = (await toLogin(address, { method: 'POST', form }))!;
    const seconds = typeof answer.expires_in === 'number' ? answer.expires_in : 0;
    token = { text: textIn(answer, 'access_token'), until: access.now() + seconds * 1000 - TOKEN_SLACK };
    return token.text;
  }

  /** A token that is refused before it expires is replaced once, so that the removal of a lost key does not wait for its expiry. */
  async function send(path: string, request: JsonRequest = {}): Promise<JsonObject | null> {
    const isKnown = token.until > access.now();
    const authorization = `Bearer ${isKnown ? token.text : await newToken()}`;
    try {
      return await toGraph(`${graphAddress}/v1.0${path}`, { ...request, authorization });
    } catch (error) {
      if (!(error instanceof ProviderRefused) || error.status !== 401) throw error;
      token.until = 0;
      if (!isKnown) throw error;
      return send(path, request);
    }
  }

  /** All objects of a list; none for a 404. An incomplete list is never returned: what it lacks would count as absent. */
  async function pages(path: string, most = PAGES): Promise<readonly JsonObject[]> {
    const objects: JsonObject[] = [];
    let next: string | null = path;
    for (let page = 0; next !== null; page++) {
      if (page === most) throw new ProviderAway(`a list of Entra ID has more than ${most} pages`);
      const answer: JsonObject = (await send(next, { mayMiss: page === 0 })) ?? { value: [] };
      objects.push(...listIn(answer));
      next = nextPage(answer['@odata.nextLink']);
    }
    return objects;
  }

  /** The token is sent only to Graph, whatever address a response contains. */
  function nextPage(link: unknown): string | null {
    if (link === undefined || link === null) return null;
    const start = `${new URL(graphAddress).origin}/v1.0/`;
    const url = typeof link === 'string' ? URL.parse(link) : null;
    if (url?.href.startsWith(start)) return url.href.slice(start.length - 1);
    throw new ProviderAway('the next page of a list is at another address than Graph');
  }

  return {
    async test() {
      await send('/users?$top=1&$select=id');
    },
    async users() {
      const found = await pages(`/users?$select=id,userPrincipalName,accountEnabled&$top=${USERS_OF_PAGE}`, USER_PAGES);
      return found.map(user => ({
        id: textIn(user, 'id'),
        userName: textIn(user, 'userPrincipalName'),
        isActive: booleanIn(user, 'accountEnabled'),
      }));
    },
    async account(userName) {
      const user = await send(`${userOf(userName)}?$select=id,userPrincipalName`, { mayMiss: true });
      return userIdOf(user, user?.userPrincipalName, userName, 'Entra ID');
    },
    async options(account) {
      const path = `${methodsOf(account)}/creationOptions(challengeTimeoutInMinutes=${CHALLENGE_MINUTES})`;
      const answer = (await send(path))!;
      const options = objectIn(answer, 'publicKey');
      const end = Date.parse(textIn(answer, 'challengeTimeoutDateTime'));
      const latest = access.now() + CHALLENGE_MINUTES * 60_000;
      return { origin: ORIGIN, options: plain(options), expiresAt: Math.min(end || latest, latest), handle: null };
    },
    async finish({ account, label, response: { id, response } }) {
      const { clientDataJSON, attestationObject } = response;
      const body = { displayName: label, publicKeyCredential: { id, response: { clientDataJSON, attestationObject } } };
      return textIn((await send(methodsOf(account), { method: 'POST', body }))!, 'id');
    },
    async list(account) {
      const methods = await pages(methodsOf(account));
      return methods.map(method => ({
        remoteId: textIn(method, 'id'),
        credentialId: null,
        label: typeof method.displayName === 'string' ? method.displayName : null,
      }));
    },
    async remove(account, { remoteId }) {
      if (remoteId === null) return false;
      const path = `${methodsOf(account)}/${encodeURIComponent(remoteId)}`;
      return (await send(path, { method: 'DELETE', mayMiss: true })) !== null;
    },
  };
}

const userOf = (account: string): string => `/users/${encodeURIComponent(account)}`;
const methodsOf = (account: string): string => `${userOf(account)}/authentication/fido2Methods`;

/** Without the annotations of OData, and with the bytes in the spelling of WebAuthn. */
function plain(options: JsonObject): JsonObject {
  const { challenge, user, excludeCredentials } = options;
  const bytes = (value: unknown) => (typeof value === 'string' ? base64url(value) : value);
  const withId = (value: unknown) => (isObject(value) ? { ...value, id: bytes(value.id) } : value);
  return {
    ...Object.fromEntries(Object.entries(options).filter(([name]) => !name.includes('@odata'))),
    challenge: bytes(challenge),
    user: withId(user),
    excludeCredentials: Array.isArray(excludeCredentials) ? excludeCredentials.map(withId) : [],
  };
}

/**
 * Microsoft Entra ID, by Microsoft Graph v1.0: fido2AuthenticationMethod. Source: learn.microsoft.com, "fido2AuthenticationMethod resource type",
 * "creationOptions" and "Create fido2AuthenticationMethod". No tenant was available to try it with.
 */
import { ProviderAway } from '../../../delivery/provider/errors.ts';
import type { ProviderRecord } from '../../../domain/provider.ts';
import { type IssuingProvider, type NewRemote, ProviderRefused } from './provider-api.ts';
import {
  base64url,
  type JsonObject,
  objectIn,
  objectsIn,
  type ProviderAccess,
  ProviderRequests,
  textIn,
  userIdOf,
} from './requests.ts';

/** Addresses are those of a national cloud; null for the public one. */
type EntraSettings = Pick<ProviderRecord, 'tenant' | 'clientId' | 'loginAddress' | 'address'>;

const PUBLIC = { login: 'https://login.microsoftonline.com', graph: 'https://graph.microsoft.com' };
const ORIGIN = 'https://login.microsoft.com';
/** Minutes that a challenge lives: enough for a touch, and for a provisioning line that waits. Graph accepts 5 to 43,200. */
const CHALLENGE_MINUTES = 10;
/** Pages of one list: far more than the keys of a person fill. */
const PAGES = 20;
/** Milliseconds before its end at which a token is not used any more. */
const TOKEN_SLACK = 60_000;

export class Entra implements IssuingProvider {
  readonly #settings: EntraSettings;
  readonly #access: ProviderAccess;
  readonly #login: ProviderRequests;
  readonly #graph: ProviderRequests;
  readonly #loginAddress: string;
  readonly #graphAddress: string;
  #token: { readonly text: string; readonly until: number } | null = null;

  constructor(settings: EntraSettings, access: ProviderAccess) {
    this.#settings = settings;
    this.#access = access;
    this.#loginAddress = settings.loginAddress ?? PUBLIC.login;
    this.#graphAddress = settings.address ?? PUBLIC.graph;
    this.#login = new ProviderRequests('Entra ID', this.#loginAddress, access);
    this.#graph = new ProviderRequests('Entra ID', this.#graphAddress, access);
  }

  async test(): Promise<void> {
    await this.#send('/users?$top=1&$select=id');
  }

  async account(userName: string): Promise<string> {
    const user = await this.#send(`${userOf(userName)}?$select=id,userPrincipalName`, { mayMiss: true });
    return userIdOf(user, user?.userPrincipalName, userName, 'Entra ID');
  }

  async options(account: string) {
    const path = `${methodsOf(account)}/creationOptions(challengeTimeoutInMinutes=${CHALLENGE_MINUTES})`;
    const answer = (await this.#send(path))!;
    const options = objectIn(answer, 'publicKey');
    const end = Date.parse(textIn(answer, 'challengeTimeoutDateTime'));
    const latest = this.#access.now() + CHALLENGE_MINUTES * 60_000;
    return { origin: ORIGIN, options: plain(options), expiresAt: Math.min(end || latest, latest), handle: null };
  }

  async finish({ account, label, response }: NewRemote): Promise<string> {
    const { id, response: answer } = response;
    const { clientDataJSON, attestationObject } = answer;
    const body = { displayName: label, publicKeyCredential: { id, response: { clientDataJSON, attestationObject } } };
    return textIn((await this.#send(methodsOf(account), { method: 'POST', body }))!, 'id');
  }

  async list(account: string) {
    const methods = await this.#pages(methodsOf(account));
    return methods.map(method => ({
      remoteId: textIn(method, 'id'),
      credentialId: null,
      label: typeof method.displayName === 'string' ? method.displayName : null,
    }));
  }

  /** All objects of a list; none for a 404. Part of a list is never returned: what it lacks would count as absent. */
  async #pages(path: string): Promise<readonly JsonObject[]> {
    const objects: JsonObject[] = [];
    let next: string | null = path;
    for (let page = 0; next !== null; page++) {
      if (page === PAGES) throw new ProviderAway(`a list of Entra ID has more than ${PAGES} pages`);
      const answer: JsonObject = (await this.#send(next, { mayMiss: page === 0 })) ?? {};
      objects.push(...objectsIn(answer, 'value'));
      next = this.#nextPage(answer['@odata.nextLink']);
    }
    return objects;
  }

  /** The token is sent only to Graph, whatever address a response contains. */
  #nextPage(link: unknown): string | null {
    if (link === undefined || link === null) return null;
    const start = `${new URL(this.#graphAddress).origin}/v1.0/`;
    const url = typeof link === 'string' ? URL.parse(link) : null;
    if (!url?.href.startsWith(start))
      throw new ProviderAway('the next page of a list is at another address than Graph');
    return url.href.slice(start.length - 1);
  }

  async remove(account: string, { remoteId }: { readonly remoteId: string | null }): Promise<boolean> {
    if (remoteId === null) return false;
    const path = `${methodsOf(account)}/${encodeURIComponent(remoteId)}`;
    return (await this.#send(path, { method: 'DELETE', mayMiss: true })) !== null;
  }

  /** A token that is refused before its end is replaced once: a lost key does not wait until it ends. */
  async #send(path: string, request: Parameters<ProviderRequests['send']>[1] = {}): Promise<JsonObject | null> {
    const isKnown = this.#token !== null && this.#token.until > this.#access.now();
    const authorization = `Bearer ${isKnown ? this.#token!.text : await this.#newToken()}`;
    try {
      return await this.#graph.send(`${this.#graphAddress}/v1.0${path}`, { ...request, authorization });
    } catch (error) {
      if (!(error instanceof ProviderRefused) || error.status !== 401) throw error;
      this.#token = null;
      if (!isKnown) throw error;
      return this.#send(path, request);
    }
  }

  async #newToken(): Promise<string> {
    const { tenant, clientId } = this.#settings;
    const { secret, now } = this.#access;
    const client = { client_id: clientId!, client_secret: secret };
    const form = { grant_type: 'client_credentials', ...client, scope: `${this.#graphAddress}/.default` };
    const address = `${this.#loginAddress}/${encodeURIComponent(tenant!)}/oauth2/v2.0/token`;
    const answer = (await this.#login.send(address, { method: 'POST', form }))!;
    const seconds = typeof answer.expires_in === 'number' ? answer.expires_in : 0;
    this.#token = { text: textIn(answer, 'access_token'), until: now() + seconds * 1000 - TOKEN_SLACK };
    return this.#token.text;
  }
}

const userOf = (account: string): string => `/users/${encodeURIComponent(account)}`;
const methodsOf = (account: string): string => `${userOf(account)}/authentication/fido2Methods`;

/** Without the annotations of OData, and with the bytes in the spelling of WebAuthn. */
function plain(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { challenge, user, excludeCredentials, ...rest } = options;
  const bytes = (value: unknown) => (typeof value === 'string' ? base64url(value) : value);
  const withId = (value: unknown) =>
    typeof value === 'object' && value !== null ? { ...value, id: bytes((value as { id?: unknown }).id) } : value;
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.includes('@odata')));
  return {
    ...kept,
    challenge: bytes(challenge),
    user: withId(user),
    excludeCredentials: Array.isArray(excludeCredentials) ? excludeCredentials.map(withId) : [],
  };
}

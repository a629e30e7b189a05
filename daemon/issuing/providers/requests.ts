/** Requests of JSON to a provider: bounded, never to an address that only this machine can reach, and answered by an object. */
import { isObject, objectIn as jsonObjectIn } from '../../../src/contract/json-object.ts';
import { bodyBounds } from '../../../src/contract/limits.ts';
import { nullFault } from '../../../src/contract/null-text.ts';
import { AddressRefused, ProviderAway } from '../../base/errors.ts';
import { providerFetch } from '../../base/fetch.ts';
import type { Clock } from '../../base/time.ts';
import { ProviderRefused } from './provider-api.ts';

/** Content of a request. */
export interface JsonRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly authorization?: string | undefined;
  readonly body?: object;
  /** Sent as a form instead of `body`. */
  readonly form?: Readonly<Record<string, string>>;
  /** A 404 is an answer: null. */
  readonly mayMiss?: boolean;
  /** The answer gets `next`: the address of the next page of a list, by the header Link (RFC 8288). */
  readonly withNext?: true;
  /** The content of a 2xx is not read. */
  readonly anyContent?: boolean;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Dependencies of requests to a provider. */
export interface ProviderAccess extends Clock {
  /** Authorization of the requests. */
  readonly secret: string;
  /** Names and networks that the operator of the daemon allows besides public addresses. */
  readonly allowed: readonly string[];
}

/** Sends a request. The object in the response; empty if it has none, null for a 404 if `mayMiss` is set. */
type SendJson = (url: string, request?: JsonRequest) => Promise<JsonObject | null>;

/**
 * Requests to one provider. `name`: what messages call it. `address`: its address, whose host may be internal. `authorized`: the
 * authorization of requests that have none of their own.
 */
export function requestsTo(
  name: string,
  address: string,
  { allowed, now }: Omit<ProviderAccess, 'secret'>,
  authorized?: string,
): SendJson {
  const fetch = providerFetch(address, allowed, now);
  return async (
    url,
    { method = 'GET', authorization = authorized, body, form, mayMiss = false, anyContent = false, withNext } = {},
  ) => {
    // The secret may have been stored before secrets were checked, and a token comes from the sign-in server.
    if (authorization !== undefined && !/^[\x20-\x7e]*$/.test(authorization))
      throw new ProviderRefused(`the secret or token of ${name} cannot be sent in a header: check its secret`);
    const headers: Record<string, string> = { accept: 'application/json' };
    if (authorization !== undefined) headers.authorization = authorization;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (form !== undefined) headers['content-type'] = 'application/x-www-form-urlencoded';
    const content = form ? new URLSearchParams(form).toString() : body ? JSON.stringify(body) : undefined;
    const response = await fetch(url, { method, headers, body: content, redirect: 'manual' }).catch(error => {
      // Nothing was sent, and a retry would not send anything either.
      throw error instanceof AddressRefused ? new ProviderRefused(`${name}: ${error.message}`) : error;
    });
    const { status } = response;
    if (status === 404 && mayMiss) return null;
    const text = await response.text();
    // Only a refusal proves that nothing was done: a server may redirect after it has registered a credential.
    if ((status >= 300 && status < 400) || status === 408)
      throw new ProviderAway(`${name} answers with HTTP ${status}: check its address`);
    // Its list and the refusals are for those who issue keys: a server that repeats what it got must not show them the secret.
    const sent = [authorization?.replace(/^\S+ /, ''), form?.client_secret].filter(Boolean) as string[];
    if (status >= 400) throw refused(name, status, reasonIn(text, sent));
    const answer = text === '' || anyContent ? {} : answerIn(name, text);
    return withNext ? { ...answer, next: nextIn(response.headers.get('link')) } : answer;
  };
}

function answerIn(name: string, text: string): JsonObject {
  if (isDeep(text)) throw new ProviderAway(`${name} answers with more than ${bodyBounds.depth} levels of JSON`);
  try {
    const value: unknown = JSON.parse(text);
    const fault = nullFault(value);
    if (fault !== null) throw new ProviderAway(`${name} answers with a text that cannot be stored: ${fault}`);
    if (Array.isArray(value)) return { value };
    if (isObject(value)) return value;
  } catch (error) {
    if (error instanceof ProviderAway) throw error;
    // Others are reported below.
  }
  throw new ProviderAway(`${name} answers with something other than JSON`);
}

function refused(name: string, status: number, reason: string): ProviderRefused {
  const access = status === 401 || status === 403 ? ': check its secret and permissions' : '';
  return new ProviderRefused(`${name} refuses with HTTP ${status}${reason && ` (${reason})`}${access}`, status);
}

/** Whether JSON has more levels than `bodyBounds.depth`: it could not be written as text again. Brackets in texts count. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > bodyBounds.depth) return true;
  }
  return false;
}

/** The sentence of the provider about its refusal, without these secrets: Graph, Okta and OAuth name it differently. */
function reasonIn(text: string, secrets: readonly string[]): string {
  const { error, errorSummary, error_description: description } = (isDeep(text) ? null : jsonObjectIn(text)) ?? {};
  const reason = errorSummary ?? description ?? (isObject(error) ? error.message : error);
  if (typeof reason !== 'string') return '';
  const shown = secrets.reduce((kept, secret) => kept.replaceAll(secret, '***'), reason);
  return shown.replace(/\p{Cc}+/gu, ' ').slice(0, 200);
}

/** The address of the next page; null if there is none. */
function nextIn(link: string | null): string | null {
  const next = link?.split(',').find(one => one.includes('rel="next"'));
  return next ? next.slice(next.indexOf('<') + 1, next.indexOf('>')) : null;
}

/** The value of a kind in a member. Throws `ProviderAway` if there is none. */
const memberIn =
  <T>(isIt: (value: unknown) => value is T) =>
  (object: JsonObject, name: string): T => {
    const value = object[name];
    if (isIt(value)) return value;
    throw new ProviderAway(`the answer of the provider has no ${name}`);
  };
export const booleanIn = memberIn(value => typeof value === 'boolean');
export const textIn = memberIn((value): value is string => typeof value === 'string' && value !== '');
export const objectIn = memberIn((value): value is JsonObject => isObject(value));

/** The objects of a list. Throws `ProviderAway` if there is none: what an error with the status 200 lacks would count as absent. */
export function listIn({ value }: JsonObject): readonly JsonObject[] {
  if (Array.isArray(value) && value.every(isObject)) return value;
  throw new ProviderAway('the answer of the provider has no list');
}

/**
 * The id of a user that was found; null: none was. Throws `ProviderRefused` if the user has another name: providers also find users by id
 * and short name, and Okta its own by `me`.
 */
export function userIdOf(user: JsonObject | null, name: unknown, userName: string, provider: string): string {
  if (user === null) throw new ProviderRefused(`${provider} has no user ${userName}: add the person there first`);
  if (typeof name === 'string' && name.toLowerCase() === userName.toLowerCase()) return textIn(user, 'id');
  throw new ProviderRefused(
    `${provider} has no user with exactly the name ${userName}: use the name of the person there`,
  );
}

/** base64url without padding, of base64 in any spelling. */
export const base64url = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

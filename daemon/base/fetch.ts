/**
 * Requests to the provider. What it names itself (the address of its keys, of tokens) must be public and https, as with webhooks:
 * a provider must not reach what only the machine of the daemon can reach. The host of the issuer may be in the networks of the
 * organization, because an administrator has named it and its certificate must bear that name; http only on this machine.
 * Addresses at which clouds serve secrets are none of them.
 */
import type { CustomFetchOptions } from 'openid-client';
import { isLoopbackName } from '../../src/contract/local.ts';
import { retryAfterSeconds } from '../../src/contract/webhooks/scheme.ts';
import { AddressNotAllowed, AllowedTargets, type Resolve } from './allowed-targets.ts';
import { connectionProblem } from './connection-problem.ts';
import { AddressRefused, ProviderAway } from './errors.ts';
import { type Answer, Outgoing, TookTooLong } from './outgoing.ts';

/** Milliseconds for one request, and bytes of a response. */
const bounds = { withinMs: 5000, mostBytes: 256 * 1024 } as const;

/** A `fetch` as the library calls it. */
export type ProviderFetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

/** Fault of the address of an issuer, in words that follow "issuer "; null if there is none. */
export function issuerProblem(text: string): string | null {
  const url = URL.parse(text);
  if (!url) return 'must be an address, https://…';
  if (url.search !== '' || url.hash !== '') return 'must have neither ? nor #';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
  if (url.protocol === 'https:' || isPlainLoopback(url)) return null;
  return 'must start with https://; http:// is for this machine only';
}

const isPlainLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && isLoopbackName(hostname);

/**
 * The problem of an address that is entered, or of those that its name has now; null if there is none. `named`: the address whose host
 * may be internal. In words that follow the name of the field.
 */
export async function enteredProblem(
  address: string,
  named: string,
  alsoAllowed: readonly string[],
  lookup?: Resolve,
): Promise<string | null> {
  const problem = issuerProblem(address) ?? issuerProblem(named);
  return problem ?? new AllowedTargets(alsoAllowed, lookup, new URL(named)).resolve(new URL(address));
}

/** `alsoAllowed`: what the operator of the daemon allows webhooks. `now`: milliseconds since 1970. */
export function providerFetch(issuer: string, alsoAllowed: readonly string[], now: () => number): ProviderFetch {
  const allowed = new AllowedTargets(alsoAllowed, undefined, new URL(issuer));
  const outgoing = new Outgoing({ allowed });
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    if (url.protocol !== 'https:' && !isPlainLoopback(url)) throw new AddressRefused(`${url.origin} is not https`);
    const problem = allowed.problemOf(url);
    if (problem !== null) throw new AddressRefused(`the address ${problem}`);
    const text = body === undefined || body === null ? null : `${body}`;
    const answer = await outgoing.send({ url, method, headers, body: text, ...bounds }).catch(error => {
      throw refusalOf(error, url);
    });
    const response = responseOf(answer, url);
    const { status } = response;
    if (status < 500 && status !== 429) return response;
    const waitSeconds = retryAfterSeconds(response.headers.get('retry-after') ?? undefined, now());
    throw new ProviderAway(`${url.host} answers with HTTP ${status}`, { waitSeconds });
  };
}

function responseOf({ status, headers: named, content }: Answer, { host }: URL): Response {
  if (status < 200 || status > 599) throw new ProviderAway(`${host}: HTTP ${status}`);
  const headers = Object.entries(named).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : content, { status, headers });
}

function refusalOf(cause: Error, { host, hostname }: URL): ProviderAway {
  if (cause instanceof AddressNotAllowed) return new AddressRefused(`${host}: ${cause.message}`, { cause });
  const isLate = cause instanceof TookTooLong;
  const reason = isLate ? `no answer within ${bounds.withinMs / 1000} s` : connectionProblem(cause, hostname);
  return new ProviderAway(`${host}: ${reason}`, { cause });
}

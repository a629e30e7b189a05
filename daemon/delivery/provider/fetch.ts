/**
 * Requests to the provider. What it names itself (the address of its keys, of tokens) must be public and https, as with webhooks: a provider must not
 * reach what only the machine of the daemon can reach. The host of the issuer may be in the networks of the organization, because an administrator
 * has named it and its certificate must bear that name; http only on this machine. Addresses at which clouds serve secrets are none of them.
 */
import { request as plainRequest, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { CustomFetchOptions } from 'openid-client';
import { retryAfterSeconds } from '../../../src/contract/webhooks/scheme.ts';
import { refuseUpgrade } from '../../../src/delivery/refuse-upgrade.ts';
import { connectionProblem, MAX_HEADERS } from '../../connection-problem.ts';
import { isLoopbackName } from '../../loopback.ts';
import { AddressNotAllowed, AllowedTargets, type Resolve } from '../webhooks/allowed.ts';
import { AddressRefused, ProviderAway } from './errors.ts';

/** Milliseconds for one request, and bytes of a response. */
const bounds = { milliseconds: 5000, bytes: 256 * 1024 } as const;

/** A `fetch` as the library calls it. */
export type ProviderFetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

/** What is wrong with the address of an issuer, in words that follow "issuer "; null if nothing is. */
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
 * What is wrong with an address that is entered, also with those that its name has now; null if nothing is. `named`: the address whose host
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
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    if (url.protocol !== 'https:' && !isPlainLoopback(url)) throw new AddressRefused(`${url.origin} is not https`);
    const problem = allowed.problemOf(url);
    if (problem !== null) throw new AddressRefused(`the address ${problem}`);
    const options = { method, headers, lookup: allowed.lookupFor(url) };
    const response = await send(url, options, body === undefined || body === null ? '' : `${body}`);
    const { status } = response;
    if (status < 500 && status !== 429) return response;
    const waitSeconds = retryAfterSeconds(response.headers.get('retry-after') ?? undefined, now());
    throw new ProviderAway(`${url.host} answers with HTTP ${status}`, { waitSeconds });
  };
}

function send(url: URL, options: RequestOptions, text: string): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const away = (reason: string, cause?: unknown) => reject(new ProviderAway(`${url.host}: ${reason}`, { cause }));
  const request = (url.protocol === 'https:' ? tlsRequest : plainRequest)(url, {
    ...options,
    // A connection of its own, whose address is checked.
    agent: false,
    maxHeaderSize: MAX_HEADERS,
  });
  const timer = setTimeout(() => {
    away(`no answer within ${bounds.milliseconds / 1000} s`);
    request.destroy();
  }, bounds.milliseconds);
  request.once('close', () => clearTimeout(timer));
  request.on('error', error => {
    if (error instanceof AddressNotAllowed)
      reject(new AddressRefused(`${url.host}: ${error.message}`, { cause: error }));
    else away(connectionProblem(error, url.hostname), error);
  });
  refuseUpgrade(request, status => away(`HTTP ${status}`));
  request.once('response', response => {
    const chunks: Buffer[] = [];
    let read = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      read += chunk.length;
      if (read <= bounds.bytes) return;
      away(`more than ${bounds.bytes} bytes`);
      response.destroy();
    });
    response.on('error', error => away(connectionProblem(error, url.hostname), error));
    response.once('end', () => {
      const status = response.statusCode ?? 0;
      const headers = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      );
      const isEmpty = status === 204 || status === 205 || status === 304;
      if (status < 200 || status > 599) return away(`HTTP ${status}`);
      resolve(new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers }));
    });
  });
  request.end(text === '' ? undefined : text);
  return promise;
}

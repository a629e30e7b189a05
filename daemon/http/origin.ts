/**
 * Keeps web pages in the operator's browser away from the daemon. A name that was rebound to this machine (DNS rebinding) shows
 * in the header Host, another site in Origin. Checked for every request and upgrade, before anything else.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { isLoopbackName } from '../../src/contract/local.ts';

/** Which names the daemon may be called by. */
export interface OriginRule {
  /** Host names (lower case, without port) besides loopback; null if any is allowed, because the daemon serves a network. */
  readonly hosts: ReadonlySet<string> | null;
}

/** The rule of a daemon that listens on this host. One that listens on loopback only may be called by loopback names only. */
export function originRule(listenHost: string, allowed: readonly string[]): OriginRule {
  const loopback = isLoopbackName(listenHost);
  if (!loopback && allowed.length === 0) return { hosts: null };
  // A Host header has an IPv6 address in brackets.
  const named = listenHost.includes(':') && !listenHost.startsWith('[') ? `[${listenHost}]` : listenHost;
  return { hosts: new Set([...allowed, ...(loopback ? [] : [named])].map(name => name.toLowerCase())) };
}

/** The headers of a request. `rawHeaders`: names and values in turn, as they arrived. */
interface ReceivedHeaders {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly httpVersionMajor?: number;
  readonly httpVersionMinor?: number;
}

/**
 * Refuses a request of another site with 2007, and one with several Host headers with 1001. Without Host only HTTP/1.0 is accepted: load
 * balancers check a server in that way, and no browser speaks it.
 */
export function checkOrigin(request: ReceivedHeaders, rule: OriginRule): void {
  const { headers, rawHeaders } = request;
  const { host, origin } = headers;
  const isOld = request.httpVersionMajor === 1 && request.httpVersionMinor === 0;
  if (host === undefined && origin === undefined && isOld) return;
  if (host === undefined) throw new ApiError(Code.parameterError, 'the header Host is required');
  if (hasSecondHost(rawHeaders)) throw new ApiError(Code.parameterError, 'the header Host must be sent once');
  if (rule.hosts && !isAllowed(host, rule.hosts))
    throw new ApiError(Code.noPermission, 'the header Host names another site');
  if (origin === undefined) return;
  if (originHost(origin) !== host.toLowerCase())
    throw new ApiError(Code.noPermission, 'requests from pages of another site are refused');
}

/**
 * Refuses a page of another origin with 2007, after `checkOrigin` has compared host and port: a daemon with TLS has no pages at
 * `http:`. One without TLS may be behind a proxy that has it, so its pages may have either scheme.
 */
export function checkSameOrigin({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): void {
  const isEncrypted = 'encrypted' in socket && socket.encrypted === true;
  if (isEncrypted && headers.origin !== undefined && !headers.origin.toLowerCase().startsWith('https:'))
    throw new ApiError(Code.noPermission, 'requests from pages without TLS are refused');
}

/** Node takes the first Host and drops the others; a proxy in front may have judged another one. */
function hasSecondHost(rawHeaders: readonly string[]): boolean {
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') found++;
  }
  return found > 1;
}

function isAllowed(host: string, hosts: ReadonlySet<string>): boolean {
  const name = hostName(host);
  return name !== null && (isLoopbackName(name) || hosts.has(name));
}

/** Whether a Host header contains a loopback name of this machine. */
export function isLoopbackHost(host: string): boolean {
  const name = hostName(host);
  return name !== null && isLoopbackName(name);
}

/** The name in a Host header, without the port; null if it is not valid. */
function hostName(host: string): string | null {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:@/?#\s]+)(?::\d{1,5})?$/.exec(host);
  return match ? match[1]!.toLowerCase() : null;
}

function originHost(origin: string): string | null {
  try {
    const url = new URL(origin);
    // A browser omits the default port in both Host and Origin.
    return url.host.toLowerCase() || null;
  } catch {
    return null;
  }
}

/**
 * A web page in the operator's browser must not reach the daemon: a name that was rebound to this machine shows in Host,
 * another site in Origin. Checked on every request and upgrade, before anything else is done.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../src/contract/codes.ts';
import { isLoopbackName } from '../loopback.ts';

export interface OriginRule {
  /** Host names (lower case, without port) beside loopback; null where any will do because the daemon serves a network. */
  readonly hosts: ReadonlySet<string> | null;
}

/** The daemon that listens on loopback alone is called by loopback names alone. */
export function originRule(listenHost: string, allowed: readonly string[]): OriginRule {
  const loopback = isLoopbackName(listenHost);
  if (!loopback && allowed.length === 0) return { hosts: null };
  // A Host header has an IPv6 address in brackets.
  const named = listenHost.includes(':') && !listenHost.startsWith('[') ? `[${listenHost}]` : listenHost;
  return { hosts: new Set([...allowed, ...(loopback ? [] : [named])].map(name => name.toLowerCase())) };
}

/** Refuses with 2007. */
export function checkOrigin(headers: IncomingHttpHeaders, rule: OriginRule): void {
  const { host, origin } = headers;
  if (host === undefined) throw new ApiError(1001, 'the header Host is required');
  if (rule.hosts && !isAllowed(host, rule.hosts)) throw new ApiError(2007, 'the Host header names another site');
  if (origin === undefined) return;
  if (originHost(origin) !== host.toLowerCase())
    throw new ApiError(2007, 'requests from the pages of another site are refused');
}

function isAllowed(host: string, hosts: ReadonlySet<string>): boolean {
  const name = hostName(host);
  return name !== null && (isLoopbackName(name) || hosts.has(name));
}

/** Whether a Host header names this machine as it calls itself. */
export function isLoopbackHost(host: string): boolean {
  const name = hostName(host);
  return name !== null && isLoopbackName(name);
}

/** The name in a Host header, without port; null where there is none. */
function hostName(host: string): string | null {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:@/?#\s]+)(?::\d{1,5})?$/.exec(host);
  return match ? match[1]!.toLowerCase() : null;
}

function originHost(origin: string): string | null {
  try {
    const url = new URL(origin);
    // A browser leaves the usual port out of both Host and Origin.
    return url.host.toLowerCase() || null;
  } catch {
    return null;
  }
}

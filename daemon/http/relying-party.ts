/** For which site security keys are used at an address. */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { RelyingParty } from '../services/sign-in/relying-party.ts';
import type { OriginRule } from './origin.ts';

/** What the site of a request follows from. */
export interface SiteRule {
  readonly origin: OriginRule;
  /** Origin at which people open the daemon; absent if none is set. */
  readonly publicUrl?: string | undefined;
}

const SECURE_LOCAL = 'localhost';

/**
 * The site of a request, or why there is none, in words. Its name is the one that the request was sent to, which `checkOrigin` has
 * compared with the page; a name that the daemon does not know as its own is refused, and so is one that browsers offer no keys for.
 */
export function relyingPartyOf(
  { headers, protocol }: Pick<FastifyRequest, 'headers' | 'protocol'>,
  { origin: { hosts }, publicUrl }: SiteRule,
): RelyingParty | string {
  const url = URL.parse(`${protocol}://${headers.host ?? ''}`);
  if (!url) return 'the address of the request has no name';
  const { hostname: id, host, origin } = url;
  if (id === SECURE_LOCAL) return { id, origin };
  if (publicUrl !== undefined && host === new URL(publicUrl).host) return { id, origin: publicUrl };
  if (isIP(id.replace(/^\[|\]$/g, '')) !== 0)
    return 'security keys do not work with an IP address: use the name of the machine in the address, on the machine itself localhost';
  if (!hosts?.has(id))
    return `security keys need a known address: start the daemon with --public-url https://${id} or --allow-host ${id}`;
  if (protocol !== 'https')
    return 'security keys need HTTPS: use https: in the address, or start the daemon with --public-url';
  return { id, origin };
}

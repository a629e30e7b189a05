/** The site (relying party) that security keys are used for at an address. */
import type { FastifyRequest } from 'fastify';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { isAddressHost } from '../base/networks.ts';
import type { OriginRule } from '../http/origin.ts';
import type { RelyingParty } from '../requests/relying-party.ts';

/** Settings that decide the site of a request. */
interface SiteRule {
  readonly origin: OriginRule;
  /** Origin at which people open the daemon; absent if none is set. */
  readonly publicUrl?: string | undefined;
}

const SECURE_LOCAL = 'localhost';
const HTTPS_PORT = 443;

/**
 * The site of a request, or in words why keys cannot be used. Its name and port are those of the request. A name that the daemon
 * does not know as its own is refused, and so is one for which browsers offer no keys. Another port is another program: its page
 * could have the key sign, and then name itself as the site of a request to this daemon.
 */
export function relyingPartyOf(
  { headers, protocol, socket }: Pick<FastifyRequest, 'headers' | 'protocol' | 'socket'>,
  { origin: { hosts }, publicUrl }: SiteRule,
): RelyingParty | string {
  const url = addressOf({ headers, protocol });
  if (!url) return 'the address of the request has no name';
  const { hostname: id, host, origin } = url;
  if (publicUrl !== undefined && host === new URL(publicUrl).host) return { id, origin: publicUrl };
  if (isAddressHost(id))
    return 'security keys do not work with an IP address: use the name of the machine in the address, or localhost on the machine itself';
  if (id !== SECURE_LOCAL && !hosts?.has(id))
    return `security keys need a known address: start the daemon with --public-url https://${id} or --allow-host ${id}`;
  if (id !== SECURE_LOCAL && protocol !== 'https')
    return 'security keys need HTTPS: use https: in the address, or start the daemon with --public-url';
  if (portOf(url) !== ownPort(protocol, socket))
    return `security keys need the port of the daemon in the address: start it with --public-url ${origin} if people open that`;
  return { id, origin };
}

/** Where people open the daemon, for addresses that another site leads them back to. */
export function originOf(
  { headers, protocol }: Pick<FastifyRequest, 'headers' | 'protocol'>,
  publicUrl: string | undefined,
): string {
  const url = addressOf({ headers, protocol });
  if (!url) throw new ApiError(Code.parameterError, 'the header Host or X-Forwarded-Proto is not valid');
  return publicUrl !== undefined && url.host === new URL(publicUrl).host ? publicUrl : url.origin;
}

/** Null also for a protocol that a proxy made up: the origin of such an address is the text "null". */
function addressOf({ headers, protocol }: Pick<FastifyRequest, 'headers' | 'protocol'>): URL | null {
  const url = URL.parse(`${protocol}://${headers.host ?? ''}`);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null;
}

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? HTTPS_PORT : 80));

/** The port of the pages of the daemon. A proxy that has TLS in front of it is expected at that of HTTPS. */
function ownPort(protocol: string, socket: FastifyRequest['socket']): number | undefined {
  const isProxied = protocol === 'https' && !('encrypted' in socket && socket.encrypted === true);
  return isProxied ? HTTPS_PORT : socket.localPort;
}

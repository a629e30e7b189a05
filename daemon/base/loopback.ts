import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The loopback addresses. */
export const LOOPBACK = { ipv4: '127.0.0.1', ipv6: '::1' } as const;

/** Whether a host name or address (without port) always means this machine. */
export function isLoopbackName(name: string): boolean {
  if (name === 'localhost' || name === '[::1]' || name === '::1') return true;
  return isIP(name) === 4 && name.startsWith('127.');
}

/**
 * What an address is counted as: this machine as one client, whichever loopback address it uses, and of IPv6 the network (/64),
 * because a client that has one of its addresses has all. Text that is not an address is returned as it is.
 */
export function clientOf(address: string): string {
  const plain = address.split('%', 1)[0]!;
  if (!ipaddr.isValid(plain)) return address;
  const parsed = ipaddr.process(plain);
  if (parsed.range() === 'loopback') return 'loopback';
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString();
}

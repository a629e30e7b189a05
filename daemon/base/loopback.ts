import ipaddr from 'ipaddr.js';

/** The loopback addresses. */
export const LOOPBACK = { ipv4: '127.0.0.1', ipv6: '::1' } as const;

/**
 * The client that an address is counted as. This machine is one client, whichever loopback address it uses. A network of IPv6 (/64) is
 * one client, because a client that has one of its addresses has all. Text that is not an address is returned as it is. A connection that
 * its client has reset has no address: all of them are one client, which reads no response.
 */
export function clientOf(address: string | undefined): string {
  if (address === undefined) return 'gone';
  const plain = address.split('%', 1)[0]!;
  if (!ipaddr.isValid(plain)) return address;
  const parsed = ipaddr.process(plain);
  if (parsed.range() === 'loopback') return 'loopback';
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString();
}

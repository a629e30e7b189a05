import { BlockList, isIP, isIPv6 } from 'node:net';

/** Whether a text is a CIDR: an IPv4 or IPv6 address in full, a slash, and the number of its leading bits that count. */
export function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/', 3);
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 0 || more.length > 0 || bits.length > 3 || !/^\d+$/.test(bits)) return false;
  return Number(bits) <= (family === 4 ? 32 : 128);
}

/** The host of a `URL`, an IPv6 address without the brackets that it has there. */
export const hostOf = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[|\]$/g, '');
/** Whether the host name of a `URL` is an IP address. */
export const isAddressHost = (hostname: string): boolean => isIP(hostOf({ hostname })) !== 0;

/**
 * A function that shows whether an address is in one of the networks, which must be valid: see `isCidr`. An address that is
 * unknown, because the client has gone, is in none.
 */
export function insideOf(cidrs: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network, bits] = cidr.split('/') as [string, string];
    list.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4');
  }
  // An IPv4 address in its IPv6 form (::ffff:10.1.2.3) matches the networks of IPv4.
  return address => {
    const plain = address?.split('%', 1)[0] ?? '';
    return isIP(plain) !== 0 && list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}

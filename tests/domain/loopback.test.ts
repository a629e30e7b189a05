import { expect, test } from 'vitest';
import { clientOf } from '../../daemon/base/loopback.ts';

test.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'])('%s is this machine', address => {
  expect(clientOf(address)).toBe('loopback');
});

test('of IPv6 a /64 is one client', () => {
  const network = clientOf('2001:db8:1:2::1');
  expect(clientOf('2001:DB8:1:2:ffff:ffff:ffff:ffff')).toBe(network);
  expect(clientOf('2001:db8:1:3::1')).not.toBe(network);
  expect(clientOf('fe80::1%eth0')).toBe(clientOf('fe80::2'));
});

test('of IPv4 each address is a client, also if it is mapped to IPv6', () => {
  expect(clientOf('192.0.2.1')).toBe('192.0.2.1');
  expect(clientOf('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(clientOf('192.0.2.2')).not.toBe(clientOf('192.0.2.1'));
});

test.each(['', 'unknown', '1.2.3.4.5', '::g'])('text that is not an address is returned as it is: %j', text => {
  expect(clientOf(text)).toBe(text);
});

test('a connection that its client has reset has no address', () => {
  expect(clientOf(undefined)).toBe('gone');
});

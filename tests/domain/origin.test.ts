import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { checkOrigin, checkSameOrigin, originRule } from '../../daemon/http/origin.ts';

const local = originRule('127.0.0.1', []);
const network = originRule('0.0.0.0', []);
const named = originRule('0.0.0.0', ['keys.example.com']);
const codeOf = (headers: Record<string, string>, rule = local): number => {
  try {
    checkOrigin({ headers, rawHeaders: Object.entries(headers).flat() }, rule);
    return 200;
  } catch (error) {
    return (error as { code: number }).code;
  }
};

test('the IPv6 address that the daemon listens on is one of its names', () => {
  const rule = originRule('2001:DB8::1', ['keys.example.com']);
  expect([codeOf({ host: '[2001:db8::1]:7470' }, rule), codeOf({ host: '[2001:db8::2]' }, rule)]).toEqual([200, 2007]);
});

test('a daemon with TLS refuses pages without it; behind a proxy, pages have either scheme', () => {
  const accepts = (origin: string | undefined, encrypted: boolean): boolean => {
    const headers = origin === undefined ? {} : { origin };
    try {
      checkSameOrigin({ headers, socket: { encrypted } } as unknown as IncomingMessage);
      return true;
    } catch {
      return false;
    }
  };
  const [plain, secure] = ['http://keys.example.com', 'HTTPS://keys.example.com'];
  expect([accepts(secure, true), accepts(undefined, true), accepts(plain, true)]).toEqual([true, true, false]);
  expect([accepts(secure, false), accepts(undefined, false), accepts(plain, false)]).toEqual([true, true, true]);
});

describe('a daemon on loopback', () => {
  test.each(['localhost', 'localhost:7470', '127.0.0.1', '127.0.0.1:7470', '127.9.9.9:1', '[::1]:7470', 'LOCALHOST:1'])(
    'answers to the name %s',
    host => {
      expect(codeOf({ host })).toBe(200);
    },
  );
  test.each([
    'evil.example',
    'evil.example:7470',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '',
    'user@localhost',
    '[::2]',
  ])('refuses a request for %s: DNS rebinding', host => {
    expect(codeOf({ host })).toBe(2007);
  });
  test('requires a Host header', () => {
    expect(codeOf({})).toBe(1001);
  });
  test('accepts requests from its own page', () => {
    expect(codeOf({ host: 'localhost:7470', origin: 'http://localhost:7470' })).toBe(200);
  });
  test.each(['http://evil.example', 'http://localhost:8080', 'null', 'file://', 'http://127.0.0.1:7470', 'nonsense'])(
    'refuses the page of another origin: %s',
    origin => {
      expect(codeOf({ host: 'localhost:7470', origin })).toBe(2007);
    },
  );
});

describe('a daemon on a network', () => {
  test('accepts any name if none is configured', () => {
    expect(codeOf({ host: 'keys.example.com' }, network)).toBe(200);
  });
  test('accepts the configured names and loopback', () => {
    expect(codeOf({ host: 'Keys.Example.com:7470' }, named)).toBe(200);
    expect(codeOf({ host: 'localhost' }, named)).toBe(200);
    expect(codeOf({ host: 'other.example.com' }, named)).toBe(2007);
  });
  test('still refuses requests from another site', () => {
    expect(codeOf({ host: 'keys.example.com', origin: 'https://evil.example' }, network)).toBe(2007);
  });
});

test.each(['Host', 'host', 'HOST'])('a second header %s is refused, also if it is the same', name => {
  const headers = { host: 'localhost' };
  const rawHeaders = ['Accept', '*/*', 'Host', 'localhost', name, 'localhost'];
  expect(() => checkOrigin({ headers, rawHeaders }, network)).toThrow(expect.objectContaining({ code: 1001 }));
});

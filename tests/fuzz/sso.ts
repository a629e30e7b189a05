/** Messages from a provider, or from anyone in its name: callbacks with cookies, and logout tokens as forms. */
import fc from 'fast-check';

const unit = fc.constantFrom(...'abcXYZ019-_.=%&;+/ "<>\\\u0000é'.split(''));
const text = (maxLength: number) => fc.string({ unit, maxLength });
const token = fc
  .tuple(fc.json({ maxDepth: 2 }), fc.json({ maxDepth: 3 }), text(90))
  .map(([header, claims, end]) => `${base64(header)}.${base64(claims)}.${end}`);
/** Ends with the port of a terminal. */
const terminalState = fc.tuple(text(20), fc.nat(100_000)).map(([state, port]) => `${state}.${port}`);
const value = fc.oneof(text(40), token, fc.base64String({ maxLength: 60 }), text(3000));
const base64 = (json: string) => Buffer.from(json).toString('base64url');

const cookie = fc.oneof(
  fc.constant(`devmgr-sso=${'A'.repeat(43)}`),
  text(60).map(found => `devmgr-sso=${found}; a=b`),
  text(200),
);

const callback = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('code', 'state', 'iss', 'error', 'response', 'x'), value), { maxLength: 6 }),
    cookie,
  )
  .map(([parameters, cookies]) => ({
    method: 'GET',
    path: `/api/auth/sso/callback?${parameters.map(([name, found]) => `${name}=${encodeURIComponent(found)}`).join('&')}`,
    lines: ['Host: localhost', 'Accept: text/html', `Cookie: ${cookies.replaceAll(/[^ -~]/g, '_')}`],
    body: Buffer.alloc(0),
  }));

const taken = fc
  .record(
    { secret: value, state: fc.oneof(terminalState, value), code: value, iss: value, error: value },
    { requiredKeys: [] },
  )
  .map(body => ({
    method: 'POST',
    path: '/api/auth/sso/callback',
    lines: ['Host: localhost', 'Content-Type: application/json'],
    body: Buffer.from(JSON.stringify(body)),
  }));

const logout = value.chain(found =>
  fc
    .constantFrom(`logout_token=${encodeURIComponent(found)}`, `logout_token=${found}`, found, `x=${found}`)
    .map(body => ({
      method: 'POST',
      path: '/api/auth/sso/logout',
      lines: ['Host: localhost', 'Content-Type: application/x-www-form-urlencoded'],
      body: Buffer.from(body),
    })),
);

export const ssoMessage = fc.oneof(callback, taken, logout);

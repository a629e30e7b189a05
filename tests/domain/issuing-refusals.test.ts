/** Which errors mean that a provider has refused a key. */
import { expect, it } from 'vitest';
import { ownAccounts } from '../../daemon/issuing/own-accounts.ts';
import { isRefusal, ProviderRefused } from '../../daemon/issuing/providers/provider-api.ts';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { issueFailure } from '../../src/enrollment/issue-events.ts';

type Parts = Parameters<typeof ownAccounts>[0];
const user = { number: 1, username: 'ada', disabled: false };

/** The answer of an account to a key if the service of sign-in keys fails with `error`. */
function answerTo(error: unknown): Promise<unknown> {
  const store = { user: async () => user };
  const passkeys = { issue: () => Promise.reject(error) };
  const own = ownAccounts({ store, passkeys, now: () => 0 } as unknown as Parts).at('https://registry.example.com');
  const finish = own.finish as (credential: object) => Promise<string>;
  return finish({ account: 'USR-1', response: {}, device: 1, by: {} }).catch(found => found);
}

it('an error of the registry is not a refusal by a provider', () => {
  expect(isRefusal(new ApiError(Code.parameterError, 'the device is not bound to a person'))).toBe(false);
  expect(isRefusal(new ProviderRefused('no such user'))).toBe(true);
});

it('an account of this registry refuses a key as a provider does', async () => {
  const refused = await answerTo(new ApiError(Code.parameterError, 'the key is already registered'));
  expect([isRefusal(refused), String(refused)]).toEqual([true, expect.stringContaining('is already registered')]);
  const denied = new ApiError(Code.noPermission);
  expect(await answerTo(denied)).toBe(denied);
});

it.each([
  [Code.parameterError, true, false],
  [Code.noPermission, false, false],
  [500, false, true],
  [0, false, true],
  ['key', false, false],
  [null, false, false],
])('the error %s of a request: nothing is at the provider %s, the answer is lost %s', (code, isRefused, isLost) => {
  expect(issueFailure(code)).toEqual({ isRefusal: isRefused, isLost });
});

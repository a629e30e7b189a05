/**
 * The session of a tab without a browser: what may replace its token. console/tsconfig.json checks the types, which are those of a
 * browser.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { call, token } from '../../console/api/request.ts';
import { endSession, replaceToken, type SignIn, session, useSession } from '../../console/api/session.ts';

vi.mock('../../console/api/request.ts', async original => ({ ...(await original<object>()), call: vi.fn() }));

const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
const signIn = (name: string): SignIn => ({
  token: `token of ${name}`,
  expireTime: inAnHour,
  user: { id: `U-${name}`, username: name, role: 'ADMIN', email: null },
});
const renewed = { token: 'renewed', expireTime: inAnHour };
/** The session that another load of this tab would continue. */
const stored = () => JSON.parse(sessionStorage.getItem('devmgr.session') ?? 'null') as SignIn | null;

afterEach(() => {
  endSession();
  vi.useRealTimers();
});

test('a session gets another token', () => {
  const ann = signIn('ann');
  useSession(ann);
  expect(replaceToken(ann, renewed)).toBe(true);
  expect([token.value, session.value?.user.username, stored()?.token]).toEqual(['renewed', 'ann', 'renewed']);
});

test('a token of an earlier session does not replace that of the next person', () => {
  const [ann, bob] = [signIn('ann'), signIn('bob')];
  useSession(ann);
  useSession(bob);
  expect(replaceToken(ann, renewed)).toBe(false);
  expect([token.value, session.value?.user.username, stored()?.token]).toEqual(['token of bob', 'bob', 'token of bob']);
});

test('a renewal that is answered after a sign-out does not begin the session again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const answer = Promise.withResolvers<typeof renewed>();
  vi.mocked(call).mockReturnValueOnce(answer.promise as never);
  useSession(signIn('ann'));
  await vi.advanceTimersByTimeAsync(1_800_000);
  expect(call).toHaveBeenCalledExactlyOnceWith('refreshToken', {});
  endSession();
  answer.resolve(renewed);
  await vi.advanceTimersByTimeAsync(0);
  expect([token.value, session.value, stored()]).toEqual([null, null, null]);
  expect(vi.getTimerCount()).toBe(0);
});

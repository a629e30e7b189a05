import { ApiError } from '../../src/contract/codes.ts';
import type { Tokens, VerifiedToken } from '../accounts/tokens.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { Store } from '../store/store.ts';
import type { SignInPolicies } from './policies.ts';

/** Dependencies of the check of a login. */
export interface ReopenParts {
  readonly store: Pick<Store, 'user'>;
  readonly tokens: Pick<Tokens, 'checkAgain'>;
  readonly policies: Pick<SignInPolicies, 'mayContinue'>;
}

/**
 * The user for whom another session of a login may be opened; null if the login has ended, or its user must sign in with a key now
 * and has not done so. The user is read: another daemon may have disabled the user a moment ago.
 */
export async function userToReopen(
  login: VerifiedToken,
  { store, tokens, policies }: ReopenParts,
): Promise<UserRecord | null> {
  try {
    await tokens.checkAgain(login);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return null;
  }
  const user = await store.user(login.user!);
  if (!user || user.disabled || user.tokenEpoch !== login.epoch) return null;
  return (await policies.mayContinue(user, login.session)) ? user : null;
}

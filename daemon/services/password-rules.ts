import { ApiError, Code } from '../../src/contract/codes.ts';
import { trimText } from '../../src/contract/text.ts';

/**
 * Why a new password is too easy to guess, in words that follow the name of the field; null if it is not. The username is null
 * if it is not known yet. Upper and lower case are the same here.
 */
export async function passwordFault(password: string, username: string | null): Promise<string | null> {
  if (trimText(password) === '') return 'must not be only white space';
  if (new Set(password).size === 1) return 'must not be one repeated character';
  const lower = password.toLowerCase();
  if (lower === username?.toLowerCase()) return 'must not be the username';
  const { commonPasswords } = await import('./common-passwords.ts');
  return commonPasswords.has(lower) ? 'is one of the most common passwords' : null;
}

/** Refuses with 1001 a new password that is too easy to guess. */
export async function checkNewPassword(password: string, username: string | null): Promise<void> {
  const fault = await passwordFault(password, username);
  if (fault) throw new ApiError(Code.parameterError, `password ${fault}`);
}

/** Single-use codes for tests. */
import type { CodePurpose } from '../../src/contract/values.ts';
import type { Answer, TestDaemon } from './daemon.ts';
import { data } from './fleet.ts';

/** A new code of the caller; of the administrator without a token. */
export async function newCode(
  daemon: Pick<TestDaemon, 'call'>,
  purpose: CodePurpose = 'SESSION',
  token?: string,
): Promise<string> {
  const options = token === undefined ? {} : { token };
  return data(await daemon.call('POST', '/api/auth/codes', { purpose }, options)).code;
}

/** Sends a code to be exchanged for a session, without a token. */
export const exchange = (
  daemon: Pick<TestDaemon, 'call'>,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => daemon.call('POST', '/api/auth/exchange', { code }, { token: null, headers });

/** The login time in a token, in seconds since 1970. */
export const loginOf = (token: string): number =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).login;

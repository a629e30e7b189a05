/** Single-use codes in place of a token: for a session of the console, and for a notification stream. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { signInCodeSeconds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import type { CodePurpose } from '../../src/contract/values.ts';
import * as present from '../accounts/present.ts';
import type { ServiceTokens } from '../accounts/service-tokens.ts';
import type { Tokens, VerifiedToken } from '../accounts/tokens.ts';
import { newSecret, secretDigest } from '../base/single-use.ts';
import { iso } from '../base/time.ts';
import type { AccessJournal } from '../requests/access-journal.ts';
import type { UserRecord } from '../requests/callers.ts';
import { type Caller, type Context, Service, type ServiceParts } from '../requests/context.ts';
import { consoleSession } from '../requests/session.ts';
import type { RequestClient } from '../requests/token-check.ts';
import type { SingleUseCodes } from '../store/short-lived.ts';
import type { Store } from '../store/store.ts';
import type { SignInPolicies } from './policies.ts';

/** The login that a code opens: of a user, or of the service token with this digest. */
type Login = VerifiedToken | { readonly serviceToken: string };

/** Dependencies of the codes. */
interface SignInCodeParts extends ServiceParts<Pick<Store, 'user'>> {
  readonly codes: SingleUseCodes;
  readonly tokens: Tokens;
  readonly serviceTokens: ServiceTokens;
  readonly policies: ReopenParts['policies'];
  readonly access: AccessJournal;
}

const LIFE_MS = signInCodeSeconds * 1000;

/** The operations on codes. A refusal is thrown as an `ApiError`; a code is in no message. */
export class SignInCodes extends Service<SignInCodeParts> {
  /** `token`: that of the request. */
  async create(
    { serviceToken }: Pick<Caller, 'serviceToken'>,
    token: string,
    { purpose }: Body<'createSignInCode'>,
  ): Promise<Data<'createSignInCode'>> {
    if (serviceToken && purpose === 'SESSION')
      throw new ApiError(Code.noPermission, 'a service token cannot open a session: log in as a user');
    const session: Login = serviceToken
      ? { serviceToken: serviceToken.sha256 }
      : await this.parts.tokens.verified(token);
    const code = newSecret();
    const expireTime = iso(this.now() + LIFE_MS);
    await this.parts.codes.put(digestOf(purpose, code), JSON.stringify(session), LIFE_MS);
    return { code, purpose, expireTime };
  }

  /** Opens another session of the login that made the code. `from`: the request, for the journal. */
  async exchange(
    { code }: Body<'exchangeSignInCode'>,
    { address, requestId }: Pick<Context, 'address' | 'requestId'>,
  ): Promise<Data<'exchangeSignInCode'>> {
    const session = await this.#take('SESSION', code);
    const opened = session && 'user' in session ? await this.#open(session) : null;
    const record = { account: opened?.user.username ?? null, address, requestId };
    if (!opened) {
      this.parts.access.record({ type: 'LOGIN_FAILED', ...record, detail: { reason: 'invalid code' } });
      throw invalid();
    }
    this.parts.access.record({ type: 'LOGIN_SUCCEEDED', ...record, detail: { method: 'code' } });
    return present.login(opened.user, opened.issued);
  }

  /** Uses up a code for a stream. Returns the check of what it opens, to be made now and while the stream is open. */
  async openStream(code: string, client: RequestClient): Promise<() => Promise<Caller>> {
    const session = await this.#take('STREAM', code);
    if (!session) throw invalid();
    const { tokens, serviceTokens } = this.parts;
    return 'user' in session
      ? () => tokens.checkAgain(session)
      : () => serviceTokens.checkDigest(session.serviceToken, client.ip);
  }

  async #open(login: VerifiedToken) {
    const user = await userToReopen(login, this.parts);
    return user && { user, issued: this.parts.tokens.issue(user, login.loginAt, consoleSession(login.session)) };
  }

  async #take(purpose: CodePurpose, code: string): Promise<Login | null> {
    const session = await this.parts.codes.take(digestOf(purpose, code));
    return session === null ? null : (JSON.parse(session) as Login);
  }
}

/** With the purpose, so that a code of another purpose is an unknown one. */
const digestOf = (purpose: CodePurpose, code: string): string => secretDigest(`${purpose} ${code}`);

const invalid = () => new ApiError(Code.tokenInvalid, 'the code is invalid, was used or has expired; get another one');

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

import { ApiError, Code } from '../../src/contract/codes.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { type Guessing, GuessingBlocked } from '../accounts/guessing.ts';
import type { Passwords } from '../accounts/passwords.ts';
import * as present from '../accounts/present.ts';
import type { Tokens } from '../accounts/tokens.ts';
import { rehash } from '../accounts/user.ts';
import { iso } from '../base/time.ts';
import type { AccessJournal } from '../requests/access-journal.ts';
import type { UserRecord } from '../requests/callers.ts';
import { type Context, Service, type ServiceParts, type Session } from '../requests/context.ts';
import type { RelyingParty } from '../requests/relying-party.ts';
import { Conflict, StoreFailure } from '../store/commit.ts';
import type { LocalJudge, SessionJudge } from './judges.ts';
import type { KeySignIn } from './key-sign-in.ts';
import { keyNeeded, keyToRegister, NoKeyLeft, type SignInPolicies } from './policies.ts';

/** Dependencies of the service. */
interface AuthServiceParts extends ServiceParts {
  readonly passwords: Passwords;
  readonly guessing: Guessing;
  readonly tokens: Tokens;
  readonly policies: Pick<SignInPolicies, 'demandOf' | 'mayContinue' | 'registrationUntil'>;
  readonly keys: Pick<KeySignIn, 'secondStep' | 'confirm'>;
  readonly local: LocalJudge;
  readonly sessions: SessionJudge;
  /** Absent if logins need no entries. */
  readonly access?: AccessJournal;
}

/** A login as the service sees it. */
interface LoginRequest extends Pick<Context, 'address' | 'requestId'> {
  /** The site of the request, or why there is none. */
  readonly site: RelyingParty | string;
}

/** Login and token renewal. A refusal is thrown as an `ApiError`. */
export class AuthService extends Service<AuthServiceParts> {
  /** `from`: the request, for the journal. */
  async login(body: Body<'login'>, from: LoginRequest): Promise<Data<'login'>> {
    const user = await this.store.userByName(body.username);
    const record = (type: 'LOGIN_SUCCEEDED' | 'LOGIN_FAILED', detail = {}) => {
      const account = user?.username ?? null;
      this.parts.access?.record({ type, account, address: from.address, requestId: from.requestId, detail });
    };
    try {
      const data = await this.#login(user, body, from);
      record('LOGIN_SUCCEEDED');
      return data;
    } catch (error) {
      // The second step has an entry of its own.
      if (error instanceof ApiError && (error.code !== Code.tokenInvalid || error instanceof NoKeyLeft))
        record('LOGIN_FAILED', { reason: reasonOf(user, error) });
      throw error;
    }
  }

  async #login(
    user: UserRecord | null,
    body: Body<'login'>,
    { site, address }: Pick<LoginRequest, 'site' | 'address'>,
  ): Promise<Data<'login'>> {
    // A disabled user is treated as missing, whatever the password is.
    if (!user || user.disabled) {
      await this.parts.guessing.login(body.username, null, async () => false);
      throw new ApiError(Code.userNotFound);
    }
    const compare = () => this.parts.passwords.verify(user.passwordHash, body.password);
    if (!(await this.parts.guessing.login(user.username, user.number, compare))) throw new ApiError(Code.wrongPassword);
    await this.parts.local.demandLocal(user, address);
    if (this.parts.passwords.isOutdated(user.passwordHash)) await this.#rehash(user, body.password);
    const demand = await this.parts.policies.demandOf(user);
    if (demand === 'key')
      throw new ApiError(Code.tokenInvalid, needsSecondStep, await this.parts.keys.secondStep(user, site));
    if (demand === 'allowance') throw new NoKeyLeft();
    const mustRegisterKey = demand === 'registration';
    const opened = { console: body.session === 'CONSOLE', mustRegisterKey };
    const data = present.login(user, this.parts.tokens.issue(user, undefined, opened));
    if (!mustRegisterKey) return data;
    const until = await this.parts.policies.registrationUntil(user);
    return { ...data, mustRegisterKey, ...(until === null ? {} : { registrationUntil: iso(until) }) };
  }

  async refresh({
    caller: { user: found, loginAt, session },
    address,
  }: Pick<Context, 'caller' | 'address'>): Promise<Data<'refreshToken'>> {
    if (!found) throw new ApiError(Code.noPermission);
    const user = await this.#mayRenew(found, session, address);
    if (!(await this.parts.policies.mayContinue(user, session))) throw keyNeeded();
    return this.#issue(user, loginAt, session);
  }

  /** The user as it is after the provider was asked, or the settings of local accounts were looked at. */
  async #mayRenew(user: UserRecord, session: Session | undefined, address: string): Promise<UserRecord> {
    const { local, sessions } = this.parts;
    if (session?.sso === undefined) {
      await local.demandLocal(user, address);
      return user;
    }
    await sessions.demand(user.number, session.sso);
    const now = await this.store.user(user.number);
    if (!now || now.disabled || now.tokenEpoch !== user.tokenEpoch) throw new ApiError(Code.tokenInvalid);
    return now;
  }

  /** Signs in again within a session. Refuses with 1003 a wrong password, with 1004 a key that is not accepted. */
  async stepUp(
    context: Context,
    { password, response }: Body<'stepUp'>,
    site: LoginRequest['site'],
  ): Promise<Data<'stepUp'>> {
    const { user, loginAt, session } = context.caller;
    if (!user) throw new ApiError(Code.noPermission);
    if (Boolean(password) === Boolean(response))
      throw new ApiError(Code.parameterError, 'send either password or response');
    if (response) await this.parts.keys.confirm(context, response, site);
    else {
      await this.#demandPassword(user, session);
      await this.parts.passwords.confirm(context, 'password', password!, [user]);
    }
    const signedInAt = Math.floor(this.now() / 1000);
    return this.#issue(user, loginAt, { ...session, signedInAt, ...(response ? { withKey: true } : {}) });
  }

  /** Refuses a step-up with the password if a login with the password alone would not open such a session. */
  async #demandPassword(user: UserRecord, session: Session | undefined): Promise<void> {
    const demand = await this.parts.policies.demandOf(user);
    if (demand === 'key')
      throw new ApiError(Code.noPermission, 'this account signs in with a security key: send response', {
        stepUp: true,
      });
    if (demand === 'allowance') throw new NoKeyLeft();
    if (demand === 'registration' && !session?.withKey) throw keyToRegister();
  }

  #issue(user: UserRecord, loginAt: number, session: Partial<Session> | undefined): Data<'refreshToken'> {
    const { token, expiresAt } = this.parts.tokens.issue(user, loginAt, session);
    return { token, expireTime: iso(expiresAt) };
  }

  /** Stores the same password at the current cost; tokens stay valid. */
  async #rehash(user: UserRecord, password: string): Promise<void> {
    const { change, guards } = rehash(user, await this.parts.passwords.hash(password));
    const commit = { at: this.now(), actor: null, requestId: null, changes: [change], guards };
    await this.store.commit(commit).catch(error => {
      // A full disk, or a password changed at the same time, is not a reason to refuse the login: the next one tries again.
      if (!(error instanceof StoreFailure || error instanceof Conflict)) throw error;
    });
  }
}

const needsSecondStep = 'the password is correct; complete the login with your security key';

/** Why a login failed, for the journal. */
function reasonOf(user: UserRecord | null, error: ApiError): string {
  if (error instanceof GuessingBlocked) return 'too many wrong passwords before';
  if (error instanceof NoKeyLeft) return 'no security key left';
  if (!user) return 'unknown account';
  if (error.code === Code.noPermission) return 'local sign-in not allowed';
  return user.disabled ? 'disabled account' : 'wrong password';
}

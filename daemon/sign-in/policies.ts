import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { passkeyBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import type * as policyApi from '../../src/contract/sign-in-policy.ts';
import { roles } from '../../src/contract/values.ts';
import { readUser } from '../accounts/lookups.ts';
import { unchanged } from '../accounts/user.ts';
import { iso } from '../base/time.ts';
import type { UserRecord } from '../requests/callers.ts';
import { type Caller, type Context, commitLast, retrying, Service, type Session } from '../requests/context.ts';
import { passkeysUnchanged } from './passkey.ts';
import * as domain from './policy.ts';

/** Result of a right password: a login, the first of two steps, a login that may only register a key, or a refusal. */
type Demand = 'password' | 'key' | 'registration' | 'allowance';

/** How long a registration is allowed. */
const ALLOWED_MS = passkeyBounds.allowedHours * 3_600_000;

/** Who has to sign in with a security key. A refusal is thrown as an `ApiError`. */
export class SignInPolicies extends Service {
  async show(): Promise<policyApi.SignInPolicy> {
    return { requireKey: [...(await this.read()).requireKey] };
  }

  async set(context: Context, { requireKey }: Body<'setSignInPolicy'>): Promise<policyApi.SignInPolicy> {
    const wanted = roles.filter(role => requireKey.includes(role));
    const { user } = context.caller;
    return retrying(async () => {
      const before = await this.#readToChange(context);
      const keys = user && wanted.some(role => role === user.role) ? await this.store.passkeysOf(user.number) : null;
      if (user && keys?.length === 0)
        throw inputError('requireKey', `: you have the role ${user.role}; register a key of your own first`);
      const changes = [domain.requireOfRoles(before, wanted)];
      const guards = user && keys ? [passkeysUnchanged(user.number, keys)] : [];
      const what = { at: this.now(), changes, guards };
      return commitLast(this.store, context, what, () => ({ requireKey: wanted }));
    });
  }

  /** Requires a key of one user, or stops that. */
  async require(
    context: Context,
    userId: string,
    { required }: Body<'requireKeyOfUser'>,
  ): Promise<Data<'requireKeyOfUser'>> {
    const user = await readUser(this.store, userId);
    return retrying(async () => {
      const before = await this.#readToChange(context);
      const keys = required ? await this.store.passkeysOf(user.number) : null;
      if (keys?.length === 0) throw inputError('required', ': this user has no key; register one first');
      const change = domain.requireOfUser(before, user.number, required);
      const data = { userId, required };
      if (!change) return data;
      const guards = keys ? [passkeysUnchanged(user.number, keys)] : [];
      return commitLast(this.store, context, { at: this.now(), changes: [change], guards }, () => data);
    });
  }

  /** Lets a user whose keys were removed register one with the password alone. Another ADMIN decides. */
  async allowRegistration(context: Context, userId: string): Promise<Data<'allowRegistration'>> {
    const { number } = await readUser(this.store, userId);
    if (number === context.caller.user?.number)
      throw new ApiError(Code.noPermission, 'another ADMIN has to allow a registration for your account');
    return retrying(async () => {
      const before = await this.#readToChange(context);
      const user = await readUser(this.store, userId);
      if (user.disabled) throw new ApiError(Code.parameterError, 'this user is disabled; enable the account first');
      const keys = await this.store.passkeysOf(number);
      if (keys.length > 0)
        throw new ApiError(Code.parameterError, 'this user has a security key; remove it first if it is lost');
      const at = this.now();
      const until = at + ALLOWED_MS;
      const changes = [domain.allowRegistration(before, user, { at, until })];
      const guards = [unchanged(user), passkeysUnchanged(number, [])];
      return commitLast(this.store, context, { at, changes, guards }, () => ({ until: iso(until) }));
    });
  }

  /** Rights that the correct password of a user gives now. */
  async demandOf(user: UserRecord): Promise<Demand> {
    const policy = await this.read();
    if (!domain.needsKey(policy, user, this.now())) return 'password';
    if ((await this.store.passkeysOf(user.number)).length > 0) return 'key';
    if (domain.registrationUntil(policy, user, this.now()) !== null) return 'registration';
    // Anyone who locks the device of a key takes the key back: that must not turn the password alone into a new key.
    return (await this.store.hadPasskey(user.number)) ? 'allowance' : 'registration';
  }

  /** Until when the user may register a key after all keys were removed; null if that is not allowed. */
  async registrationUntil(user: UserRecord): Promise<number | null> {
    return domain.registrationUntil(await this.read(), user, this.now());
  }

  /** As `registrationUntil`, of any number of users, after one read. */
  async registrations(): Promise<(user: UserRecord) => number | null> {
    const [policy, at] = [await this.read(), this.now()];
    return user => domain.registrationUntil(policy, user, at);
  }

  /**
   * The factor that a session lacks; `password` if none. A key of a user whose keys were all removed proves nothing, unless the provider of
   * single sign-on has seen it.
   */
  async #lackOf(user: UserRecord, session: Session | undefined): Promise<Demand> {
    if (session?.withKey && session.sso !== undefined) return 'password';
    const demand = await this.demandOf(user);
    return session?.withKey && demand === 'key' ? 'password' : demand;
  }

  /** Whether a session may continue after its token expires: one without a key may not if its user must sign in with one. */
  async mayContinue(user: UserRecord, session: Session | undefined): Promise<boolean> {
    return (await this.#lackOf(user, session)) === 'password';
  }

  /** Refuses callers who need a key, had one, and have not used it in this session: a password must not replace the key. */
  async demandKeyOf({ user, session }: Pick<Caller, 'user' | 'session'>): Promise<void> {
    const lack = user ? await this.#lackOf(user, session) : 'password';
    if (lack === 'allowance') throw new NoKeyLeft();
    // An allowed registration is for the person who knows the password, not for a session of earlier that someone else may have.
    const isAllowed = lack === 'registration' && (await this.registrationUntil(user!)) !== null;
    if (isAllowed && !session?.mustRegisterKey) throw keyToRegister();
    if (lack !== 'key') return;
    if (session?.mustRegisterKey) throw keyNeeded();
    throw keyOfSessionNeeded();
  }

  /**
   * The policy, for a caller who may change it: one who must sign in with a key has used it in this session, so that a session
   * from before the policy cannot end it. Judged after the read: a policy that is set after the read is a `Conflict` of the
   * change.
   */
  async #readToChange({ caller: { user, session } }: Context): Promise<domain.SignInPolicyRecord> {
    const policy = await this.read();
    const lack = user ? await this.#lackOf(user, session) : 'password';
    if (lack === 'key') throw keyOfSessionNeeded();
    if (lack === 'registration') throw keyToRegister();
    if (lack === 'allowance') throw new NoKeyLeft();
    return policy;
  }

  async read(): Promise<domain.SignInPolicyRecord> {
    return domain.policyIn(await this.store.document(domain.SIGN_IN_POLICY));
  }
}

/** The refusal of a user who must sign in with a key, had one and has none: the password alone must not register another one. */
export class NoKeyLeft extends ApiError {
  constructor() {
    super(
      Code.tokenInvalid,
      'this account must sign in with a security key, and its keys were removed. Ask an ADMIN to allow the registration of another one (devmgr users allow-registration NAME)',
      { allowRegistration: true },
    );
  }
}

/** The refusal of a session that began before its user had to sign in with a key. */
export const keyNeeded = (): ApiError =>
  new ApiError(Code.tokenInvalid, 'this account must sign in with a security key now; log in again');

/** The refusal of a session without a key, of a user who has none and must sign in with one. */
export const keyToRegister = (): ApiError =>
  new ApiError(Code.noPermission, 'this account must sign in with a security key now: log in again and register one', {
    registerKey: true,
  });

const keyOfSessionNeeded = (): ApiError =>
  new ApiError(Code.noPermission, 'sign in with your security key to do this (POST /api/auth/step-up)', {
    stepUp: true,
  });

import { ApiError, Code } from '../../../src/contract/codes.ts';
import type { BodyOf, DataOf } from '../../../src/contract/define.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import type * as policyApi from '../../../src/contract/sign-in-policy.ts';
import { roles } from '../../../src/contract/values.ts';
import { passkeysUnchanged } from '../../domain/passkey.ts';
import * as domain from '../../domain/sign-in-policy.ts';
import type { UserRecord } from '../../domain/user.ts';
import type { Store } from '../../store/store.ts';
import { type Caller, type Context, commitLast, retrying, type Session } from '../context.ts';
import { readUser } from '../reads.ts';

/** The result of a right password: a login, the first of two steps, or a login that may only register a key. */
type Demand = 'password' | 'key' | 'registration';

/** Who has to sign in with a security key. A refusal is thrown as an `ApiError`. */
export class SignInPolicies {
  readonly #store: Store;
  readonly #now: () => number;

  /** `now`: milliseconds since 1970. */
  constructor({ store, now }: { readonly store: Store; readonly now: () => number }) {
    this.#store = store;
    this.#now = now;
  }

  async show(): Promise<policyApi.SignInPolicy> {
    return { requireKey: [...(await this.read()).requireKey] };
  }

  async set(context: Context, { requireKey }: BodyOf<Routes['setSignInPolicy']>): Promise<policyApi.SignInPolicy> {
    const wanted = roles.filter(role => requireKey.includes(role));
    const { user } = context.caller;
    return retrying(async () => {
      const before = await this.#readToChange(context);
      const keys = user && wanted.includes(user.role) ? await this.#store.passkeysOf(user.number) : null;
      if (user && keys?.length === 0)
        throw new ApiError(
          Code.parameterError,
          `requireKey: you have the role ${user.role}; register a key of your own first`,
        );
      const changes = [domain.requireOfRoles(before, wanted)];
      const guards = user && keys ? [passkeysUnchanged(user.number, keys)] : [];
      const what = { at: this.#now(), changes, guards };
      return commitLast(this.#store, context, what, () => ({ requireKey: wanted }));
    });
  }

  /** Requires a key of one user, or stops that. */
  async require(
    context: Context,
    userId: string,
    { required }: BodyOf<Routes['requireKeyOfUser']>,
  ): Promise<DataOf<Routes['requireKeyOfUser']>> {
    const user = await readUser(this.#store, userId);
    return retrying(async () => {
      const before = await this.#readToChange(context);
      const keys = required ? await this.#store.passkeysOf(user.number) : null;
      if (keys?.length === 0)
        throw new ApiError(Code.parameterError, 'required: this user has no key; register one first');
      const change = domain.requireOfUser(before, user.number, required);
      const data = { userId, required };
      if (!change) return data;
      const guards = keys ? [passkeysUnchanged(user.number, keys)] : [];
      return commitLast(this.#store, context, { at: this.#now(), changes: [change], guards }, () => data);
    });
  }

  /** What the right password of a user is worth now. */
  async demandOf(user: UserRecord): Promise<Demand> {
    if (!domain.needsKey(await this.read(), user)) return 'password';
    return (await this.#store.passkeysOf(user.number)).length > 0 ? 'key' : 'registration';
  }

  /** Whether a session may continue after its token expires: one without a key may not if its user must sign in with one. */
  async mayContinue(user: UserRecord, session: Session | undefined): Promise<boolean> {
    return session?.withKey === true || (await this.demandOf(user)) === 'password';
  }

  /** Refuses callers who must sign in with a key, have one, and have not used it in this session: the password alone must not replace the key. */
  async demandKeyOf({ user, session }: Pick<Caller, 'user' | 'session'>): Promise<void> {
    if (!user || session?.withKey || (await this.demandOf(user)) !== 'key') return;
    if (session?.mustRegisterKey) throw keyNeeded();
    throw keyOfSessionNeeded();
  }

  /**
   * The policy, for a caller who may change it: one who must sign in with a key has used it in this session, so that a session from before the
   * policy cannot end it. Judged after the read: a policy that is set after the read is a `Conflict` of the change.
   */
  async #readToChange({ caller: { user, session } }: Context): Promise<domain.SignInPolicyRecord> {
    const policy = await this.read();
    const demand = user && !session?.withKey ? await this.demandOf(user) : 'password';
    if (demand === 'key') throw keyOfSessionNeeded();
    if (demand === 'registration') throw keyToRegister();
    return policy;
  }

  async read(): Promise<domain.SignInPolicyRecord> {
    return domain.policyIn(await this.#store.document(domain.SIGN_IN_POLICY));
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

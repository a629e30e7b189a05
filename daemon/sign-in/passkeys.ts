/** The security keys of users: registered by the users, listed, removed. */
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { passkeyIds } from '../../src/contract/ids.ts';
import { passkeyBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import type * as api from '../../src/contract/webauthn.ts';
import { readUser } from '../accounts/lookups.ts';
import { logOut } from '../accounts/user.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { iso, isoOrNull } from '../base/time.ts';
import type { UserRecord } from '../requests/callers.ts';
import { type Context, commitLast, retrying, Service, type ServiceParts, timeOf } from '../requests/context.ts';
import { type RelyingParty, requireSite } from '../requests/relying-party.ts';
import { challengeIn } from './client-data.ts';
import * as domain from './passkey.ts';
import type { SignInPolicies } from './policies.ts';
import { endExemption, needsKey, policyUnchanged } from './policy.ts';
import type { SignedChallenges } from './signed-challenges.ts';
import {
  ANSWERED_BEFORE,
  AnswerRefused,
  checkAttestation,
  creationOptions,
  type NewCredential,
} from './webauthn-library.ts';

/** Dependencies of the service. */
interface PasskeyServiceParts extends ServiceParts {
  readonly challenges: SignedChallenges;
  readonly policies: SignInPolicies;
}

/** Purpose of the registration of a key. */
interface KeyRequest {
  readonly purpose: string;
  readonly site: RelyingParty;
  readonly verified: boolean;
}

const LIFE_MS = passkeyBounds.challengeSeconds * 1000;
const purposeOf = ({ user, loginAt }: Context['caller']) => `register ${user!.number} ${user!.tokenEpoch} ${loginAt}`;
const issuePurpose = ({ number }: UserRecord) => `issue ${number}`;

/** A refusal is thrown as an `ApiError`. `site`: of the request, or why there is none. */
export class PasskeyService extends Service<PasskeyServiceParts> {
  /** Avoids conflicts within this process. The guards of the commit detect changes by other daemons. */
  readonly #changes = new KeyedMutex<number>();

  async options({ caller }: Context, site: RelyingParty | string): Promise<Data<'getKeyRegistrationOptions'>> {
    await this.parts.policies.demandKeyOf(caller);
    return { options: await this.#options(caller.user!, requireSite(site), purposeOf(caller)) };
  }

  /** Options for a key that an ADMIN issues for a user. They live for `passkeyBounds.challengeSeconds`. */
  issueOptions(user: UserRecord, site: RelyingParty): Promise<object> {
    return this.#options(user, site, issuePurpose(user), true);
  }

  async register(context: Context, body: Body<'registerKey'>, site: RelyingParty | string): Promise<api.Passkey> {
    const asked = { purpose: purposeOf(context.caller), site: requireSite(site), verified: false };
    return this.#register(context, context.caller.user!, body, asked);
  }

  /** Stores a key that an ADMIN issues for a user. */
  async issue(context: Context, user: UserRecord, body: Body<'registerKey'>, site: RelyingParty): Promise<api.Passkey> {
    return this.#register(context, user, body, { purpose: issuePurpose(user), site, verified: true });
  }

  async #register(
    context: Context,
    user: UserRecord,
    { name, response }: Body<'registerKey'>,
    asked: KeyRequest,
  ): Promise<api.Passkey> {
    const key = { name, rpId: asked.site.id, ...(await this.#checked(response, asked)) };
    return this.#changes.run(user.number, () => retrying(() => this.#add(context, user, key)));
  }

  /** Removes an issued key and ends its user's sessions: a finder may have opened one. Without effect if it is removed. */
  takeBack(owner: number, credentialId: string): Promise<void> {
    const attempt = async () => {
      const [user, passkey] = [await this.store.user(owner), await this.store.passkeyByCredential(credentialId)];
      if (!user || passkey?.owner !== owner || passkey.removedAt !== null) return;
      const { change, guards } = logOut(user);
      const changes = [domain.remove(passkey, { username: user.username }), change];
      await this.store.commit({ at: this.now(), actor: null, requestId: null, changes, guards });
    };
    return this.#changes.run(owner, () => retrying(attempt));
  }

  async list(userId: string): Promise<Data<'listKeysOfUser'>> {
    const user = await readUser(this.store, userId);
    const policy = await this.parts.policies.read();
    const list = (await this.store.passkeysOf(user.number)).map(presented);
    return {
      list,
      required: needsKey(policy, user, this.now()),
      requiredByUser: policy.users.includes(user.number),
    };
  }

  async remove(context: Context, userId: string, passkeyId: string): Promise<api.Passkey> {
    const user = await readUser(this.store, userId);
    return this.#changes.run(user.number, () => retrying(() => this.#remove(context, user, passkeyId)));
  }

  async #remove(context: Context, user: UserRecord, passkeyId: string): Promise<api.Passkey> {
    const number = passkeyIds.parse(passkeyId);
    const policy = await this.parts.policies.read();
    const keys = await this.store.passkeysOf(user.number);
    const passkey = keys.find(one => one.number === number);
    if (!passkey) throw new ApiError(404, 'this user has no such key');
    const isOwn = user.number === context.caller.user?.number;
    if (isOwn && keys.length === 1 && needsKey(policy, user, this.now()))
      throw new ApiError(
        Code.parameterError,
        'this is your last key, and you must sign in with one: register another one first',
      );
    if (isOwn) await this.parts.policies.demandKeyOf(context.caller);
    const changes = [domain.remove(passkey, { username: user.username })];
    // An ADMIN may remove the last key of another user.
    const what = {
      at: this.now(),
      changes,
      guards: isOwn ? [policyUnchanged(policy), domain.passkeysUnchanged(user.number, keys)] : [],
    };
    return commitLast(this.store, context, what, () => presented(passkey));
  }

  async #options(user: UserRecord, site: RelyingParty, purpose: string, isAlone = false): Promise<object> {
    return creationOptions({
      site,
      challenge: this.parts.challenges.create(purpose, this.now() + LIFE_MS),
      milliseconds: LIFE_MS,
      user: { handle: this.parts.challenges.userHandle(user.number), name: user.username },
      registered: await this.store.passkeysOf(user.number),
      isAlone,
    });
  }

  async #checked(answer: api.AttestationResponse, { purpose, ...expected }: KeyRequest): Promise<NewCredential> {
    const answered = await this.parts.challenges.answer(purpose, challengeIn(answer), this.now());
    try {
      if (answered && !answered.isFirst) throw new AnswerRefused(ANSWERED_BEFORE);
      return await checkAttestation(answer, { ...expected, challenge: answered?.challenge.id ?? null });
    } catch (error) {
      if (!(error instanceof AnswerRefused)) throw error;
      throw inputError('response', `: ${error.message}; request another challenge`);
    }
  }

  async #add(
    context: Context,
    user: UserRecord,
    key: NewCredential & Pick<domain.PasskeyRecord, 'name' | 'rpId'>,
  ): Promise<api.Passkey> {
    const policy = await this.parts.policies.read();
    const keys = await this.store.passkeysOf(user.number);
    await this.parts.policies.demandKeyOf(context.caller);
    if (keys.length >= passkeyBounds.perUser)
      throw new ApiError(Code.parameterError, `the account has ${passkeyBounds.perUser} keys, the maximum; remove one`);
    const passkey = { owner: user.number, ...key };
    const ended = endExemption(policy, user.number);
    const at = this.now();
    const guards = [policyUnchanged(policy), domain.passkeysUnchanged(user.number, keys)];
    const changes = [domain.create(passkey, user), ...(ended ? [ended] : [])];
    return commitLast(this.store, context, { at, changes, guards }, ([result]) => {
      if (result?.kind !== 'added') throw inputError('response', ': this key is already registered, or was removed');
      return presented({ ...passkey, number: result.number, createdAt: timeOf(result, at), lastUsedAt: null });
    });
  }
}

const presented = ({
  number,
  name,
  rpId,
  aaguid,
  createdAt,
  lastUsedAt,
}: Pick<domain.PasskeyRecord, 'number' | 'name' | 'rpId' | 'aaguid' | 'createdAt' | 'lastUsedAt'>): api.Passkey => ({
  passkeyId: passkeyIds.format(number),
  name,
  rpId,
  aaguid,
  createdAt: iso(createdAt),
  lastUsedAt: isoOrNull(lastUsedAt),
});

import type * as api from '../../src/contract/auth.ts';
import { ApiError } from '../../src/contract/codes.ts';
import type { BodyOf, DataOf } from '../../src/contract/define.ts';
import { userIds } from '../../src/contract/ids.ts';
import { rehash, type UserRecord } from '../domain/user.ts';
import { Conflict, StoreFailure } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import type { AccessJournal } from './access-journal.ts';
import type { Caller, Context } from './context.ts';
import { type Guessing, GuessingBlocked } from './guessing.ts';
import type { Passwords } from './passwords.ts';
import * as present from './present.ts';
import type { Tokens } from './tokens.ts';

/** What the service works with. `now`: milliseconds since 1970. */
export interface AuthServiceParts {
  readonly store: Store;
  readonly passwords: Passwords;
  readonly guessing: Guessing;
  readonly tokens: Tokens;
  readonly now: () => number;
  /** Absent if logins need no entries. */
  readonly access?: AccessJournal;
}

/** Login and token renewal. A refusal is thrown as an `ApiError`. */
export class AuthService {
  readonly #store: Store;
  readonly #passwords: Passwords;
  readonly #guessing: Guessing;
  readonly #tokens: Tokens;
  readonly #now: () => number;
  readonly #access: AccessJournal | undefined;

  constructor(parts: AuthServiceParts) {
    this.#store = parts.store;
    this.#passwords = parts.passwords;
    this.#guessing = parts.guessing;
    this.#tokens = parts.tokens;
    this.#now = parts.now;
    this.#access = parts.access;
  }

  /** `from`: the request, for the journal. */
  async login(
    body: BodyOf<typeof api.login>,
    from?: Pick<Context, 'address' | 'requestId'>,
  ): Promise<DataOf<typeof api.login>> {
    const user = await this.#store.userByName(body.username);
    const record = (type: 'LOGIN_SUCCEEDED' | 'LOGIN_FAILED', detail = {}) => {
      const account = user?.username ?? null;
      if (from) this.#access?.record({ type, account, address: from.address, requestId: from.requestId, detail });
    };
    try {
      const data = await this.#login(user, body);
      record('LOGIN_SUCCEEDED');
      return data;
    } catch (error) {
      if (error instanceof ApiError) record('LOGIN_FAILED', { reason: reasonOf(user, error) });
      throw error;
    }
  }

  async #login(user: UserRecord | null, body: BodyOf<typeof api.login>): Promise<DataOf<typeof api.login>> {
    // A disabled user is treated as missing, whatever the password is.
    if (!user || user.disabled) {
      await this.#guessing.login(body.username, null, async () => false);
      throw new ApiError(1002);
    }
    const compare = () => this.#passwords.verify(user.passwordHash, body.password);
    if (!(await this.#guessing.login(user.username, user.number, compare))) throw new ApiError(1003);
    if (this.#passwords.isOutdated(user.passwordHash)) await this.#rehash(user, body.password);
    const { token, expiresAt } = this.#tokens.issue(user);
    return {
      token,
      expireTime: present.iso(expiresAt),
      user: { id: userIds.format(user.number), username: user.username, role: user.role, email: user.email },
    };
  }

  refresh(caller: Caller): DataOf<typeof api.refresh> {
    if (!caller.user) throw new ApiError(2007);
    const { token, expiresAt } = this.#tokens.issue(caller.user, caller.loginAt);
    return { token, expireTime: present.iso(expiresAt) };
  }

  /** Stores the same password at the current cost; tokens stay valid. */
  async #rehash(user: UserRecord, password: string): Promise<void> {
    const { change, guards } = rehash(user, await this.#passwords.hash(password));
    const commit = { at: this.#now(), actor: null, requestId: null, changes: [change], guards };
    await this.#store.commit(commit).catch(error => {
      // A full disk, or a password changed meanwhile, is not a reason to refuse the login: the next one tries again.
      if (!(error instanceof StoreFailure || error instanceof Conflict)) throw error;
    });
  }
}

/** Why a login failed, for the journal. */
function reasonOf(user: UserRecord | null, error: ApiError): string {
  if (error instanceof GuessingBlocked) return 'too many wrong passwords before';
  if (!user) return 'unknown account';
  return user.disabled ? 'disabled account' : 'wrong password';
}

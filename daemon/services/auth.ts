import type * as api from '../../src/contract/auth.ts';
import { ApiError } from '../../src/contract/codes.ts';
import type { BodyOf, DataOf } from '../../src/contract/define.ts';
import { userIds } from '../../src/contract/ids.ts';
import { Conflict, type Store, StoreFailure, type UserRecord } from '../store/store.ts';
import type { Caller } from './context.ts';
import type { Passwords } from './passwords.ts';
import * as present from './present.ts';
import type { Tokens } from './tokens.ts';

export class AuthService {
  readonly #store: Store;
  readonly #passwords: Passwords;
  readonly #tokens: Tokens;
  readonly #now: () => number;

  constructor(parts: { store: Store; passwords: Passwords; tokens: Tokens; now: () => number }) {
    this.#store = parts.store;
    this.#passwords = parts.passwords;
    this.#tokens = parts.tokens;
    this.#now = parts.now;
  }

  async login(body: BodyOf<typeof api.login>): Promise<DataOf<typeof api.login>> {
    const user = await this.#store.userByName(body.username);
    // A disabled user is not there, whatever the password.
    if (!user || user.disabled) throw new ApiError(1002);
    if (!(await this.#passwords.verify(user.passwordHash, body.password))) throw new ApiError(1003);
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
    const { token, expiresAt } = this.#tokens.issue(caller.user);
    return { token, expireTime: present.iso(expiresAt) };
  }

  /** The same password at today's cost; tokens stay good. */
  async #rehash(user: UserRecord, password: string): Promise<void> {
    const passwordHash = await this.#passwords.hash(password);
    const detail = { passwordHash: 'made anew at the present cost' };
    const commit = this.#store.commit({
      at: this.#now(),
      actor: null,
      requestId: null,
      changes: [
        {
          kind: 'user.set',
          user: user.number,
          set: { passwordHash },
          revoke: false,
          entry: { type: 'USER_UPDATED', detail },
        },
      ],
      guards: [{ kind: 'user', user: user.number, tokenEpoch: user.tokenEpoch }],
    });
    await commit.catch(error => {
      // A full disk, or a password changed meanwhile, is no reason to refuse the login: the next one tries again.
      if (!(error instanceof StoreFailure || error instanceof Conflict)) throw error;
    });
  }
}

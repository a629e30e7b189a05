import { personKey } from '../../src/contract/person-key.ts';
import type { CallerGuard } from '../domain/caller.ts';
import type { ServiceTokenRecord, UserRecord } from '../domain/callers.ts';
import type { TokenChange } from '../domain/service-token.ts';
import type { UserChange, UserGuard } from '../domain/user.ts';
import type { Rows, Window } from '../store/queries.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import { accountsNamed, enabledAdmins, serviceTokens, tokensOfOwner, users } from './tables.ts';
import { tokenChanges, tokenReplay } from './token-rules.ts';
import { callerRule, UserReplay, userChanges, userGuards } from './user-rules.ts';

declare module '../store/commit.ts' {
  interface SubjectChanges {
    users: UserChange;
    serviceTokens: TokenChange;
  }
  interface SubjectGuards {
    users: UserGuard;
  }
  interface SubjectCallers {
    accounts: CallerGuard;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads {
    user(number: number): Promise<UserRecord | null>;
    userByName(username: string): Promise<UserRecord | null>;
    /** The accounts whose name is equal to that of a person: see `personKey`. */
    usersNamed(userName: string): Promise<readonly UserRecord[]>;
    /** In order of creation. */
    users(window: Window): Promise<Rows<UserRecord>>;
    /** Enabled users with the role ADMIN. */
    admins(): Promise<readonly UserRecord[]>;
    serviceToken(number: number): Promise<ServiceTokenRecord | null>;
    /** The token whose text has this SHA-256 (lower-case hex). */
    serviceTokenByDigest(sha256: string): Promise<ServiceTokenRecord | null>;
    /** Service tokens of this owner that are not revoked. */
    serviceTokensOf(owner: number): Promise<readonly ServiceTokenRecord[]>;
    /** In order of creation, including expired and revoked ones. */
    serviceTokens(window: Window): Promise<Rows<ServiceTokenRecord>>;
  }
}

const tokenByDigest: Lookup<ServiceTokenRecord> = { table: serviceTokens, by: ['sha256'] };
const numbersOf = (records: readonly { readonly number: number }[]) => records.map(({ number }) => number);

/** Users and service tokens, and what commits ask of their callers. */
export const accounts = subject({
  tables: [users, serviceTokens],
  changes: { ...userChanges, ...tokenChanges },
  guards: userGuards,
  caller: callerRule,
  kept: [users.byKey, serviceTokens.byKey],
  notice(draft) {
    const [changedUsers, changedTokens] = [draft.of(users), draft.of(serviceTokens)];
    const ended = changedTokens.changed.filter(
      ({ before, after }) => before.revokedAt !== after.revokedAt || before.owner !== after.owner,
    );
    return {
      users: numbersOf([...changedUsers.added, ...changedUsers.changed.map(({ after }) => after)]),
      serviceTokens: numbersOf([...changedTokens.added, ...ended.map(({ after }) => after)]),
    };
  },
  replays() {
    const replay = new UserReplay();
    const tokens = tokenReplay(name => replay.numberOf(name));
    return [
      { takes: 'user', replay },
      { takes: 'serviceToken', replay: tokens },
    ];
  },
  reads: queries => ({
    user: number => queries.one(users.byKey, number),
    userByName: username => queries.one(users.unique, username),
    usersNamed: userName => queries.all(accountsNamed, personKey(userName)),
    users: window => queries.page(users, window),
    admins: () => queries.all(enabledAdmins, ''),
    serviceToken: number => queries.one(serviceTokens.byKey, number),
    serviceTokenByDigest: sha256 => queries.one(tokenByDigest, sha256),
    serviceTokensOf: owner => queries.all(tokensOfOwner, owner),
    serviceTokens: window => queries.page(serviceTokens, window),
  }),
});

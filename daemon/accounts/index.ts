import { personKey } from '../../src/contract/person-key.ts';
import type { ServiceTokenRecord } from '../requests/callers.ts';
import type { CallerGuard } from '../store/caller.ts';
import type { Window } from '../store/queries.ts';
import type { ReadsOf, RecordQueries } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import type { TokenChange } from './service-token.ts';
import { accountsNamed, enabledAdmins, serviceTokens, tokensOfOwner, users } from './tables.ts';
import { tokenChanges, tokenReplay } from './token-rules.ts';
import type { UserChange, UserGuard } from './user.ts';
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
  interface SubjectReads extends ReadsOf<typeof reads> {}
}

const tokenByDigest: Lookup<ServiceTokenRecord> = { table: serviceTokens, by: ['sha256'] };
const tokensOwned: Lookup<ServiceTokenRecord> = { table: serviceTokens, by: ['owner'] };
const numbersOf = (records: readonly { readonly number: number }[]) => records.map(({ number }) => number);

const reads = (queries: RecordQueries) => ({
  user: (number: number) => queries.one(users.byKey, number),
  userByName: (username: string) => queries.one(users.unique, username),
  /** The accounts of the person with this name: see `accountsNamed`. */
  usersNamed: (userName: string) => queries.all(accountsNamed, personKey(userName)),
  /** In order of creation. */
  users: (window: Window) => queries.page(users, window),
  /** Enabled users with the role ADMIN. */
  admins: () => queries.all(enabledAdmins, ''),
  serviceToken: (number: number) => queries.one(serviceTokens.byKey, number),
  /** The token whose text has this SHA-256 (lower-case hex). */
  serviceTokenByDigest: (sha256: string) => queries.one(tokenByDigest, sha256),
  /** Service tokens of this owner that are not revoked. */
  serviceTokensOf: (owner: number) => queries.all(tokensOfOwner, owner),
  /** All service tokens of this owner, also revoked ones. */
  tokensOwnedBy: (owner: number) => queries.all(tokensOwned, owner),
  /** In order of creation, including expired and revoked ones. */
  serviceTokens: (window: Window) => queries.page(serviceTokens, window),
});

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
  reads,
});

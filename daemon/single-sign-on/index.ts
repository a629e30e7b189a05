import { SESSIONS } from '../store/caller.ts';
import { Conflict } from '../store/commit.ts';
import type { ReadsOf, RecordQueries } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import { Versions } from '../store/write/documents.ts';
import { type ChangeRules, done } from '../store/write/rule.ts';
import type { SsoSessionsRow, SsoSessionsSet } from './records.ts';
import { ssoSessions } from './tables.ts';

declare module '../store/document.ts' {
  interface SubjectDocuments {
    singleSignOn: 'sso' | 'sso-sessions' | `sso-account:${string}`;
  }
}
declare module '../store/commit.ts' {
  interface SubjectChanges {
    singleSignOn: SsoSessionsSet;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends ReadsOf<typeof reads> {}
}

const sessionsVersion: Lookup<SsoSessionsRow, 'version'> = { ...ssoSessions.byKey, select: ['version'] };
const allSessions: Lookup<SsoSessionsRow> = { table: ssoSessions, by: [] };

/** The sessions of users that a transaction replaces. */
class SsoSessions extends Versions<number, SsoSessionsRow> {
  protected readonly lookup = sessionsVersion;
}

const changes: ChangeRules<SsoSessionsSet['kind']> = {
  'sso.sessions': {
    needs: ({ user }, wanted) => wanted.add(sessionsVersion, user),
    check(draft, { user, before }) {
      if (draft.part(SsoSessions).version(user) !== before)
        throw new Conflict(`the sessions of user ${user} have another version now`);
    },
    apply(draft, { user: number, before, sessions }) {
      draft.part(SsoSessions).changed.set(number, { number, version: before + 1, sessions });
      return done;
    },
  },
};

const reads = (queries: RecordQueries) => ({
  /** The sessions of a user that came from the provider. */
  ssoSessions: (user: number) => queries.one(ssoSessions.byKey, user),
  /** The sessions of all users that came from the provider. */
  allSsoSessions: () => queries.all(allSessions, ''),
});

/** Sessions that came from the provider of single sign-on. */
export const singleSignOn = subject({
  replaced: [SsoSessions],
  changes,
  rightsIn: [SESSIONS],
  reads,
});

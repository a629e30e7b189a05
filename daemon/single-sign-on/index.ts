import { SESSIONS } from '../store/caller.ts';
import type { ReadsOf, RecordQueries } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import { type Lookup, StoreTable } from '../store/table.ts';
import { sinceVersion, Versions } from '../store/write/documents.ts';
import { type ChangeRules, done } from '../store/write/rule.ts';
import type { SsoSessionsRow, SsoSessionsSet } from './records.ts';

declare module '../store/document.ts' {
  interface SubjectDocuments {
    singleSignOn: 'sso' | 'sso-sessions' | `sso-account:${string}` | `sso-holder:${number}`;
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

/** The sessions of users that came from the provider of single sign-on. */
const ssoSessions = new StoreTable<SsoSessionsRow>('sso_session', {
  number: 'integer',
  version: 'integer',
  sessions: 'json',
});
const sessionsVersion: Lookup<SsoSessionsRow, 'version'> = { ...ssoSessions.byKey, select: ['version'] };
const allSessions: Lookup<SsoSessionsRow> = { table: ssoSessions, by: [] };

const otherVersion = (user: number) => `the sessions of user ${user} have another version now`;

/** The sessions of users that a transaction replaces. */
class SsoSessions extends Versions<number, SsoSessionsRow> {
  protected readonly lookup = sessionsVersion;
}

const changes: ChangeRules<SsoSessionsSet['kind']> = {
  'sso.sessions': {
    ...sinceVersion(SsoSessions, sessionsVersion, ({ user }: SsoSessionsSet) => user, otherVersion),
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

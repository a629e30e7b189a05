import type { AnswerRecord, ReadsOf, RecordQueries } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import { type CandidateRow, type CandidatesQuery, candidatesIn } from './candidates.ts';
import type { IdentityChange, IdentityRecord } from './records.ts';
import { identityChanges, identityReplay } from './rules.ts';
import { identitiesOf, identities as table } from './tables.ts';

declare module '../store/commit.ts' {
  interface SubjectChanges {
    identity: IdentityChange;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends ReadsOf<typeof reads> {}
}

const reads = (queries: RecordQueries) => ({
  /** All credentials that a device has had, by number. */
  identitiesOf: (device: number) => queries.all(identitiesOf, device),
  /** The credential with this id, also if its key has lost it. */
  identityWith: (credentialId: string) => queries.one(table.unique, credentialId),
  /** Which of the credentials are on their keys. */
  presentIdentities: (credentialIds: readonly string[]) =>
    queries.many({ ...table.unique, having: { lostAt: null } }, credentialIds) as AnswerRecord<
      ReadonlyMap<string, IdentityRecord>
    >,
  /** At most one credential that a key has. */
  anyIdentity: () =>
    queries.rows<{ readonly number: number }>('SELECT number FROM identity WHERE lost_at IS NULL LIMIT 1', []),
  /** Credentials that an attached key may have, the likeliest first. */
  identityCandidates: (query: CandidatesQuery) => queries.rows<CandidateRow>(...candidatesIn(query)),
});

/** Credentials by which keys are recognized. */
export const identity = subject({
  tables: [table],
  changes: identityChanges,
  replays: () => [{ takes: ['DEVICE_IDENTITY'], replay: identityReplay() }],
  reads,
});

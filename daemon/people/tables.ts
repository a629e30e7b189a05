/** The tables of persons, of what leavers did, and of what was refused. */

import { type Lookup, StoreTable } from '../store/table.ts';
import type { CaseRecord } from './case-records.ts';
import type { LeaverCounts } from './leaver-brake.ts';
import type { PersonRecord } from './records.ts';
import type { RefusedRow } from './refused-records.ts';

export const people = new StoreTable<PersonRecord>(
  'person',
  {
    number: 'integer',
    userName: 'text',
    userKey: 'text',
    name: 'text',
    names: 'json',
    email: 'text',
    externalId: 'text',
    active: 'boolean',
    groups: 'json',
    source: 'text',
    createdAt: 'integer',
    updatedAt: 'integer',
    leftAt: 'integer',
    heldAt: 'integer',
    pendingName: 'text',
    dueAt: 'integer',
    reason: 'text',
    endedBy: 'text',
    removedAt: 'integer',
    version: 'integer',
    salt: 'text',
    search: 'text',
  },
  { fixed: ['createdAt'], unique: ['userKey'], among: { removedAt: null } },
);

/** Keys that open the user names in the journal. */
export const personSalts: Lookup<PersonRecord, 'number' | 'salt'> = { ...people.byKey, select: ['number', 'salt'] };

/** All persons with a user name, by `personKey`: at most one of them is not removed. */
export const peopleNamed: Lookup<PersonRecord> = { table: people, by: ['userKey'] };

/** All persons with an id of their provider. */
export const peopleWithId: Lookup<PersonRecord> = { table: people, by: ['externalId'] };

/** Leaves within the last minutes, counted in one row. */
export interface LeaverRow {
  readonly number: number;
  readonly counts: LeaverCounts;
}

export const leaverCounts = new StoreTable<LeaverRow>('leaver_count', { number: 'integer', counts: 'json' });

/** The case of each person who has left: one row for each person. */
export const leaverCases = new StoreTable<CaseRecord>('leaver_case', {
  number: 'integer',
  openedAt: 'integer',
  closedAt: 'integer',
  kept: 'json',
  overdue: 'json',
  items: 'json',
  salt: 'text',
  version: 'integer',
});

/** Requests that the registry could not store: one row for each source. */
export const refusedRequests = new StoreTable<RefusedRow>('refused_request', {
  number: 'integer',
  requests: 'json',
  announcedAt: 'integer',
});

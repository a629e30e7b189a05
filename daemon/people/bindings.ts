/** Queries about devices and their persons beside records, once for all engines. */
import { personKey } from '../../src/contract/person-key.ts';
import { SSH_KEY_LIKE } from '../../src/contract/ssh-key.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { devicesOf, unmatchedNamed } from '../devices/tables.ts';
import type { Window } from '../store/queries.ts';
import { type RecordQueries, withAnswer } from '../store/read/records.ts';
import { type Lookup, selectList } from '../store/table.ts';
import type { CaseRecord } from './case-records.ts';
import { leaverCases } from './tables.ts';

/** Devices that are bound to a name without a person. */
const unmatchedNumbers: Lookup<DeviceRecord, 'number'> = { ...unmatchedNamed, select: ['number'] };

/** A device and the name that it is bound to. */
export type NamedDevice = Pick<DeviceRecord, 'number'> & { readonly userId: string };
/** A device that was sent to its person, and when. */
export type Shipment = { readonly number: number; readonly shippedAt: number };
/** Fields that leaving and returning compare. */
export type PersonDevice = Pick<DeviceRecord, 'number' | 'status' | 'lockReason'>;

const personDevices: Lookup<DeviceRecord, keyof PersonDevice> = {
  ...devicesOf,
  select: ['number', 'status', 'lockReason'],
};

/** An account with the name of a person who has left, and of no active person. */
const hasLeft = `EXISTS (SELECT 1 FROM person WHERE person.user_key = account.user_key AND active = false)
    AND NOT EXISTS (SELECT 1 FROM person WHERE person.user_key = account.user_key AND active = true)`;

const named = `SELECT number, user_id AS "userId" FROM device WHERE user_id IS NOT NULL AND`;
const onItsWay = "shipped_at IS NOT NULL AND received_at IS NULL AND status = 'ACTIVE' AND shipped_at <= ?";
const sql = {
  count: 'SELECT count(*) AS total FROM device WHERE person = ?',
  /** `?`: how many at most. */
  unkeyed: `${named} user_key IS NULL ORDER BY number LIMIT ?`,
  /** `?`: how many at most, and after how many. */
  unmatched: `${named} person IS NULL ORDER BY number LIMIT ? OFFSET ?`,
  /** Of persons who have left, also those who wait for a delay or a release. */
  leaverDevices:
    "SELECT count(*) AS total FROM device WHERE status = 'ACTIVE' AND person IN (SELECT number FROM person WHERE active = false)",
  /** `?`: the time. See `hasLostOwner`. */
  ownerlessTokens: `SELECT count(*) AS total FROM service_token JOIN "user" AS account ON account.number = service_token.owner
    WHERE revoked_at IS NULL AND expires_at > ? AND (account.disabled = true OR EXISTS (SELECT 1 FROM person
      WHERE person.user_key = account.user_key AND active = false AND held_at IS NULL AND due_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM person WHERE person.user_key = account.user_key AND active = true))`,
  /** Of persons who have left: enabled accounts, their tokens that are accepted, and credentials at providers. */
  leaverAccounts: `SELECT count(*) AS total FROM "user" AS account WHERE account.disabled = false AND ${hasLeft}`,
  /** `?`: the time. A token is refused once nothing of its owner waits: see `hasLostOwner`. */
  leaverTokens: `SELECT count(*) AS total FROM service_token JOIN "user" AS account ON account.number = service_token.owner
    WHERE revoked_at IS NULL AND expires_at > ? AND account.disabled = false AND ${hasLeft}
    AND NOT EXISTS (SELECT 1 FROM person WHERE person.user_key = account.user_key AND active = false
      AND held_at IS NULL AND due_at IS NULL)`,
  leaverCredentials: `SELECT count(*) AS total FROM credential WHERE removed_at IS NULL AND credential_id IS NOT NULL
    AND (remote_id IS NULL OR remote_id NOT LIKE '${SSH_KEY_LIKE}')
    AND device IN (SELECT device.number FROM device JOIN person ON person.number = device.person WHERE person.active = false)`,
  /** ACTIVE devices that a leave finds only by a name that is not that of a person; 0 without persons. */
  unmatchedActive: `SELECT count(*) AS total FROM device WHERE user_id IS NOT NULL AND person IS NULL AND status = 'ACTIVE'
    AND EXISTS (SELECT 1 FROM person)`,
  /** `?`: the time. Service tokens by which a provider can send persons. */
  scimTokens: `SELECT count(*) AS total FROM service_token WHERE revoked_at IS NULL AND expires_at > ? AND may LIKE '%"scim"%'
    AND NOT EXISTS (SELECT 1 FROM "user" AS account WHERE account.number = owner AND account.disabled = true)`,
  /** `?`: the latest time at which it was sent; see `shipmentsOnTheirWay` of the schema. */
  shipmentCount: `SELECT count(*) AS total FROM device WHERE ${onItsWay}`,
  /** `?`: the same, the last one of the portion before, and how many at most. */
  shipments: `SELECT number, shipped_at AS "shippedAt" FROM device WHERE ${onItsWay} AND (shipped_at, number) > (?, ?)
    ORDER BY shipped_at, number LIMIT ?`,
  unmatchedTotal: 'SELECT count(*) AS total FROM device WHERE user_id IS NOT NULL AND person IS NULL',
} as const;

export function bindingReads(queries: RecordQueries) {
  const total = (text: string, ...values: number[]) =>
    withAnswer(queries.rows<{ readonly total: number }>(text, values), ([found]) => Number(found!.total));
  return {
    /** The devices of a person, by number. */
    devicesOf: (person: number) => queries.all(personDevices, person),
    deviceCount: (person: number) => total(sql.count, person),
    /** Devices of an earlier version whose name has no key yet: see `DevicesBind`. At most `limit`. */
    unkeyedDevices: (limit: number) => queries.rows<NamedDevice>(sql.unkeyed, [limit]),
    /** Devices that are bound to a name that is not that of a person, by number. */
    unmatchedDevices: (limit: number, offset: number) => queries.rows<NamedDevice>(sql.unmatched, [limit, offset]),
    unmatchedCount: () => total(sql.unmatchedTotal),
    /** ACTIVE devices of persons who have left. */
    leaverDevices: () => total(sql.leaverDevices),
    /** Service tokens, neither revoked nor expired at this time, that are refused because of their owner. */
    ownerlessTokens: (now: number) => total(sql.ownerlessTokens, now),
    /** Figures of the standing check: see the statements. */
    leaverAccounts: () => total(sql.leaverAccounts),
    leaverTokens: (now: number) => total(sql.leaverTokens, now),
    leaverCredentials: () => total(sql.leaverCredentials),
    unmatchedActive: () => total(sql.unmatchedActive),
    /** ACTIVE devices that were sent at this time or before, and have not arrived. */
    shipmentCount: (sentBy: number) => total(sql.shipmentCount, sentBy),
    /** At most `limit` of them after another one, the earliest first. */
    shipments: (sentBy: number, after: Shipment, limit: number) =>
      queries.rows<Shipment>(sql.shipments, [sentBy, after.shippedAt, after.number, limit]),
    scimTokens: (now: number) => total(sql.scimTokens, now),
    /** The devices without a person that are bound to the name with this `personKey`. */
    unmatchedNamedDevices: (userKey: string) => queries.all(unmatchedNumbers, userKey),
    /** Whether a device without a person is bound to the name: see `personKey`. */
    isUnmatched: (userId: string) =>
      withAnswer(queries.one(unmatchedNumbers, personKey(userId)), found => found !== null),
  };
}

/** `?`: the time before which the case was closed, the number after which they begin, and how many at most. */
const erasable = `SELECT leaver_case.number FROM leaver_case JOIN person ON person.number = leaver_case.number
  WHERE closed_at < ? AND leaver_case.number > ? AND active = false AND (ended_by IS NULL OR ended_by <> 'erasure')
  ORDER BY leaver_case.number LIMIT ?`;

/** `?`: a time. */
const erasedByPolicy = `SELECT subject AS number FROM event
  WHERE device IS NULL AND subject IS NOT NULL AND type = 'PERSON_ERASED' AND actor IS NULL AND at >= ?`;

const state = (isOpen: boolean) => (isOpen ? 'closed_at IS NULL' : 'closed_at IS NOT NULL');

export const caseReads = (queries: RecordQueries) => ({
  /** The last case of a person. */
  leaverCase: (person: number) => queries.one(leaverCases.byKey, person),
  /** Cases by the time of their opening. */
  leaverCases: (isOpen: boolean, { descending, limit, offset }: Window) =>
    queries.rows<CaseRecord>(
      `SELECT ${selectList(leaverCases.fields)} FROM leaver_case WHERE ${state(isOpen)}
        ORDER BY opened_at ${descending ? 'DESC' : 'ASC'}, number LIMIT ? OFFSET ?`,
      [limit, offset],
      leaverCases,
    ),
  /** Persons who have left, are not erased, and whose case was closed before this time; after this number. */
  erasablePersons: (closedBefore: number, after: number, limit: number) =>
    withAnswer(queries.rows<{ readonly number: number }>(erasable, [closedBefore, after, limit]), found =>
      found.map(({ number }) => Number(number)),
    ),
  /** Numbers of the persons whom the policy has erased since this time. */
  erasedByPolicy: (since: number) =>
    withAnswer(queries.rows<{ readonly number: number }>(erasedByPolicy, [since]), found =>
      found.map(({ number }) => Number(number)),
    ),
  leaverCaseCount: (isOpen: boolean) =>
    withAnswer(
      queries.rows<{ readonly total: number }>(`SELECT count(*) AS total FROM leaver_case WHERE ${state(isOpen)}`, []),
      ([found]) => Number(found!.total),
    ),
});

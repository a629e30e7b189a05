import { ApiError, Code } from '../../src/contract/codes.ts';
import type { PeoplePolicy } from '../../src/contract/people-policy.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { OwnerJudge, OwnerVerdict } from '../devices/judges.ts';
import type { DeviceRecord } from '../devices/records.ts';
import type { Context, ServiceParts } from '../requests/context.ts';
import { StoredSettings } from '../requests/stored-settings.ts';
import type { LookupKey } from '../store/table.ts';
import { ownerFault, unlockFault } from './device-decisions.ts';
import { noPeoplePolicy, PEOPLE_POLICY } from './policy.ts';
import type { OwnerGuard, PersonRecord } from './records.ts';

/** Names that are looked up at once. */
const PORTION = 500;

/** The policy of persons. */
export class PeoplePolicies extends StoredSettings<PeoplePolicy> implements OwnerJudge {
  constructor(parts: ServiceParts) {
    super({ ...parts, name: PEOPLE_POLICY, type: 'PEOPLE_POLICY_SET', none: noPeoplePolicy });
  }

  /** Days that are absent stay: a program of an earlier version does not know them. */
  override async set(context: Context, given: PeoplePolicy): Promise<PeoplePolicy> {
    const { retentionDays: before, copiesDays, arrivalDays } = (await this.read()).config;
    const { retentionDays = before } = given;
    if (context.caller.serviceToken !== null && (retentionDays ?? null) !== (before ?? null))
      throw new ApiError(Code.noPermission, 'a service token cannot change retentionDays: an erasure is permanent');
    const known = Object.entries({ copiesDays, arrivalDays, ...given, retentionDays });
    const wanted = known.filter(([, value]) => value !== undefined);
    return super.set(context, Object.fromEntries(wanted) as PeoplePolicy);
  }

  /** Reads what it needs for these user names at once, and judges each of them. */
  async judgeOwners(userIds: readonly string[]): Promise<(userId: string) => OwnerVerdict> {
    const [{ version, config }, persons] = await Promise.all([this.read(), this.#named(userIds)]);
    const policyGuard = { kind: 'document', name: PEOPLE_POLICY, version } as const;
    return userId => {
      const guard: OwnerGuard = { kind: 'owner', userId, isRequired: config.personsRequired };
      return { fault: ownerFault(guard, persons.get(personKey(userId))), guards: [guard, policyGuard] };
    };
  }

  /** The persons of user names, by `personKey`. In portions: reads of an engine can keep everything else waiting. */
  async #named(userIds: readonly string[]): Promise<ReadonlyMap<LookupKey, PersonRecord>> {
    const keys = [...new Set(userIds.map(personKey))];
    const named = new Map<LookupKey, PersonRecord>();
    for (let from = 0; from < keys.length; from += PORTION)
      for (const [key, person] of await this.store.personsByKey(keys.slice(from, from + PORTION)))
        named.set(key, person);
    return named;
  }

  async leftAmong(persons: readonly number[]): Promise<ReadonlySet<number>> {
    if (persons.length === 0) return new Set();
    const window = { descending: false, offset: 0, limit: persons.length };
    const { rows } = await this.store.people({ numbers: persons, active: false, ...window });
    return new Set(rows.map(({ number }) => number));
  }

  /** Judges whether others than an ADMIN may unlock a LOCKED device: not one of a person who has left. */
  async judgeUnlock({ number, status, person, userId }: DeviceRecord): Promise<OwnerVerdict> {
    if (userId === null) return { fault: null, guards: [] };
    const found = await (person === null ? this.store.personByName(userId) : this.store.person(person));
    const samePerson = { kind: 'device', device: number, status: [status], fields: { person } } as const;
    return { fault: unlockFault(found), guards: [{ kind: 'present', person, userId }, samePerson] };
  }
}

import type { PeoplePolicy } from '../../../src/contract/people-policy.ts';
import { type DocumentGuard, type SettingsRecord, setSettings, settingsIn } from '../../domain/document.ts';
import { noPeoplePolicy, PEOPLE_POLICY } from '../../domain/people-policy.ts';
import { type OwnerGuard, ownerFault } from '../../domain/person.ts';
import type { Store } from '../../store/store.ts';
import { type Context, commitLast, retrying } from '../context.ts';

/** Whether a device may be bound to a user name. */
export interface OwnerVerdict {
  /** Why it must not be bound; null if it can be. */
  readonly fault: string | null;
  /** Guards that keep the verdict valid until the commit. */
  readonly guards: readonly (OwnerGuard | DocumentGuard)[];
}

/** The policy of persons. */
export class PeoplePolicies {
  readonly #store: Store;
  readonly #now: () => number;

  /** `now`: milliseconds since 1970. */
  constructor({ store, now }: { readonly store: Store; readonly now: () => number }) {
    this.#store = store;
    this.#now = now;
  }

  async show(): Promise<PeoplePolicy> {
    return (await this.read()).config;
  }

  set(context: Context, policy: PeoplePolicy): Promise<PeoplePolicy> {
    return retrying(async () => {
      const change = setSettings({ name: PEOPLE_POLICY, type: 'PEOPLE_POLICY_SET' }, await this.read(), policy);
      return commitLast(this.#store, context, { at: this.#now(), changes: [change] }, () => policy);
    });
  }

  async read(): Promise<SettingsRecord<PeoplePolicy>> {
    return settingsIn(await this.#store.document(PEOPLE_POLICY), noPeoplePolicy);
  }

  /** Reads what it needs for these user names at once, and judges each of them. */
  async judgeOwners(userIds: readonly string[]): Promise<(userId: string) => OwnerVerdict> {
    const names = [...new Set(userIds)];
    const [{ version, config }, ...found] = await Promise.all([
      this.read(),
      ...names.map(name => this.#store.personByName(name)),
    ]);
    const persons = new Map(names.map((name, i) => [name, found[i]]));
    const policyGuard = { kind: 'document', name: PEOPLE_POLICY, version } as const;
    return userId => {
      const guard: OwnerGuard = { kind: 'owner', userId, isRequired: config.personsRequired };
      return { fault: ownerFault(guard, persons.get(userId)), guards: [guard, policyGuard] };
    };
  }
}

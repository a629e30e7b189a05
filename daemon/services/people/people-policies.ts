import type { PeoplePolicy } from '../../../src/contract/people-policy.ts';
import type { DocumentGuard } from '../../domain/document.ts';
import * as domain from '../../domain/people-policy.ts';
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
    return (await this.read()).policy;
  }

  set(context: Context, policy: PeoplePolicy): Promise<PeoplePolicy> {
    return retrying(async () => {
      const change = domain.setPeoplePolicy(await this.read(), policy);
      return commitLast(this.#store, context, { at: this.#now(), changes: [change] }, () => policy);
    });
  }

  async read(): Promise<domain.PeoplePolicyRecord> {
    return domain.peoplePolicyIn(await this.#store.document(domain.PEOPLE_POLICY));
  }

  /** Reads what it needs for these user names at once, and judges each of them. */
  async judgeOwners(userIds: readonly string[]): Promise<(userId: string) => OwnerVerdict> {
    const names = [...new Set(userIds)];
    const [{ version, policy }, ...found] = await Promise.all([
      this.read(),
      ...names.map(name => this.#store.personByName(name)),
    ]);
    const persons = new Map(names.map((name, i) => [name, found[i]]));
    const policyGuard = { kind: 'document', name: domain.PEOPLE_POLICY, version } as const;
    return userId => {
      const guard: OwnerGuard = { kind: 'owner', userId, isRequired: policy.personsRequired };
      return { fault: ownerFault(guard, persons.get(userId)), guards: [guard, policyGuard] };
    };
  }
}

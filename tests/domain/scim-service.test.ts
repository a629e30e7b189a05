/** A filter that matches most persons of a large registry must not hold the event loop. */
import { expect, it } from 'vitest';
import { create, type PersonRecord } from '../../daemon/domain/person.ts';
import type { Leavers } from '../../daemon/services/people/leavers.ts';
import { readFilter } from '../../daemon/services/scim/filter.ts';
import { ScimService } from '../../daemon/services/scim/scim-service.ts';
import type { PersonFilter, Window } from '../../daemon/store/queries.ts';
import type { Store } from '../../daemon/store/store.ts';

const PERSONS = 5000;

it('a filter looks at each person once, and makes the resources of its page alone', async () => {
  let made = 0;
  const none = { name: null, names: null, email: null, externalId: null, groups: [], source: 'scim' } as const;
  const personOf = (number: number): PersonRecord => ({
    ...create({ ...none, userName: `person.${number}` }).person,
    number,
    updatedAt: 0,
    search: '',
    get createdAt() {
      made++;
      return 0;
    },
  });
  const people = async ({ after = 0, limit }: PersonFilter & Window) => {
    const count = Math.max(0, Math.min(limit, PERSONS - after));
    return { rows: Array.from({ length: count }, (_, i) => personOf(after + i + 1)), total: count };
  };
  const store = { people, document: async () => null } as unknown as Store;
  const service = new ScimService({ store, leavers: {} as Leavers, now: () => 0 });
  const window = { filter: readFilter('userName co "person"'), startIndex: 101, count: 50 };
  const { rows, total } = await service.users(window, {
    context: { caller: null } as never,
    base: 'https://registry.test/scim/v2',
    body: null,
    ifMatch: undefined,
  });
  expect([total, rows.length, rows[0]?.id]).toEqual([PERSONS, 50, 'PER-101']);
  expect(made).toBe(PERSONS + 50);
});

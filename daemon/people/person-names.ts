import { personBounds } from '../../src/contract/limits.ts';
import type { PersonNames } from '../devices/judges.ts';
import type { Store } from '../store/store.ts';

const window = { after: 0, descending: false, offset: 0 };

/** Reads the names of persons for exports of devices. */
export const personNames = (store: Pick<Store, 'people'>): PersonNames => ({
  hasPersons: async () => (await store.people({ ...window, limit: 1 })).total > 0,
  namesOf: async persons => {
    const numbers = [...new Set(persons)];
    const names = new Map<number, string | null>();
    for (let at = 0; at < numbers.length; at += personBounds.named) {
      const some = numbers.slice(at, at + personBounds.named);
      const { rows } = await store.people({ ...window, numbers: some, limit: some.length });
      for (const { number, name } of rows) names.set(number, name);
    }
    return names;
  },
});

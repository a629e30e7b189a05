/** Devices that a daemon of an earlier version has bound: to a name only. */
import { personKey } from '../../src/contract/person-key.ts';
import { retrying } from '../requests/context.ts';
import type { Store } from '../store/store.ts';
import { personsByKey } from './lookups.ts';

/** Devices of one commit. */
const PORTION = 1000;

/** Counts of the devices of an earlier version that were changed. */
interface EarlierDevices {
  /** Became devices of a person. */
  readonly bound: number;
  /** Their name is that of no person, or of several. */
  readonly unmatched: number;
}

/** Binds devices whose name means exactly one person to that person. Idempotent; can be interrupted at any time. */
export async function bindEarlierDevices(
  store: Pick<Store, 'unkeyedDevices' | 'people' | 'commit'>,
  now: () => number,
): Promise<EarlierDevices> {
  const total = { bound: 0, unmatched: 0 };
  for (;;) {
    const bound = await retrying(async () => {
      const devices = await store.unkeyedDevices(PORTION);
      const keys = devices.map(({ userId }) => personKey(userId));
      const persons = await personsByKey(store, [...new Set(keys)]);
      const found = devices.map(({ number: device }, i) => {
        const named = persons.get(keys[i]!) ?? [];
        return { device, userKey: keys[i]!, person: named.length === 1 ? named[0]!.number : null };
      });
      const changes = [{ kind: 'devices.bind', bound: found } as const];
      if (found.length > 0) await store.commit({ at: now(), actor: null, requestId: null, changes });
      return found;
    });
    const matched = bound.filter(({ person }) => person !== null).length;
    total.bound += matched;
    total.unmatched += bound.length - matched;
    if (bound.length < PORTION) return total;
  }
}

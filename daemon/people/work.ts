import type { DueTask } from '../background/due-work.ts';
import type { Store } from '../store/store.ts';
import { bindEarlierDevices } from './earlier-devices.ts';
import type { Leavers } from './leavers.ts';

/** Persons of one look. */
const PORTION = 100;

interface DueLeaversParts {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly store: Pick<Store, 'people' | 'commit'>;
  readonly leavers: Pick<Leavers, 'changes'>;
}

/** Each person in a commit of its own. */
export const dueLeavers = ({ store, leavers, now }: DueLeaversParts): DueTask => ({
  work: 'leavers',
  undone: 'leavers whose delay is over stay unlocked',
  look: async () => {
    const window = { descending: false, offset: 0, limit: PORTION };
    const { rows } = await store.people({ dueBy: now(), ...window });
    for (const person of rows) {
      const changes = await leavers.changes([person], { step: 'due', reason: person.reason ?? 'left' });
      await store.commit({ at: now(), actor: null, requestId: null, changes });
    }
    return rows.length === PORTION;
  },
});

interface EarlierDevicesParts {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly store: Pick<Store, 'people' | 'commit' | 'unkeyedDevices'>;
}

/**
 * Devices that a daemon of an earlier version binds to a name while it shares the registry become devices of a person. Not a part
 * of `dueLeavers`: such a daemon may have that work for as long as it runs, but it does not know this one.
 */
export const earlierDevices = ({ store, now }: EarlierDevicesParts): DueTask => ({
  work: 'earlier devices',
  undone: 'devices of daemons of an earlier version do not become devices of persons',
  look: async () => {
    await bindEarlierDevices(store, now);
    return false;
  },
});

import { bindEarlierDevices } from '../services/people/earlier-devices.ts';
import type { Leavers } from '../services/people/leavers.ts';
import type { Store } from '../store/store.ts';
import { DueWork, type DueWorkParts } from './due-work.ts';

/** Persons of one look. */
const PORTION = 100;

interface DueLeaversParts extends DueWorkParts {
  readonly store: Pick<Store, 'people' | 'commit' | 'sharedWork'>;
  readonly leavers: Pick<Leavers, 'changes'>;
}

/** Each person in a commit of its own. */
export class DueLeavers extends DueWork<DueLeaversParts> {
  protected readonly work = 'leavers';
  protected readonly undone = 'leavers whose delay is over stay unlocked';

  async doDue(): Promise<boolean> {
    const { store, leavers, now } = this.parts;
    const window = { descending: false, offset: 0, limit: PORTION };
    const { rows } = await store.people({ dueBy: now(), ...window });
    for (const person of rows) {
      const changes = await leavers.changes([person], { step: 'due', reason: person.reason ?? 'left' });
      await store.commit({ at: now(), actor: null, requestId: null, changes });
    }
    return rows.length === PORTION;
  }
}

interface EarlierDevicesParts extends DueWorkParts {
  readonly store: Pick<Store, 'people' | 'commit' | 'sharedWork' | 'unkeyedDevices'>;
}

/**
 * Devices that a daemon of an earlier version binds to a name while it shares the registry become devices of a person. Not a part
 * of `DueLeavers`: such a daemon may have that work for as long as it runs, but it does not know this one.
 */
export class EarlierDevices extends DueWork<EarlierDevicesParts> {
  protected readonly work = 'earlier devices';
  protected readonly undone = 'devices of daemons of an earlier version do not become devices of persons';

  async doDue(): Promise<boolean> {
    await bindEarlierDevices(this.parts.store, this.parts.now);
    return false;
  }
}

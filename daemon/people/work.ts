import { hourMs } from '../../src/contract/durations.ts';
import { caseBounds } from '../../src/contract/limits.ts';
import { sleep } from '../../src/delivery/wait.ts';
import type { DueTask } from '../background/due-work.ts';
import type { ServiceParts } from '../requests/context.ts';
import type { Store } from '../store/store.ts';
import { overdue } from './case-records.ts';
import type { Cases } from './cases.ts';
import { bindEarlierDevices } from './earlier-devices.ts';
import type { Erasure } from './erasure.ts';
import type { Leavers } from './leavers.ts';
import type { StandingCheck } from './standing-check.ts';

/** Milliseconds between two searches for persons to erase. */
const ERASURES_MS = 600_000;
/** Persons of one search. */
const PORTION = 100;

interface DueLeaversParts extends ServiceParts<Pick<Store, 'people' | 'commit'>> {
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

/**
 * Gives devices to persons that a daemon of an earlier version binds to a name while it shares the registry. Separate from
 * `dueLeavers`: a daemon of an earlier version may hold that work as long as it runs, but it does not know this one.
 */
export const earlierDevices = ({
  store,
  now,
}: ServiceParts<Pick<Store, 'people' | 'commit' | 'unkeyedDevices'>>): DueTask => ({
  work: 'earlier devices',
  undone: 'devices of daemons of an earlier version do not become devices of persons',
  look: async () => {
    await bindEarlierDevices(store, now);
    return false;
  },
});

interface OverdueItemsParts extends ServiceParts<Pick<Store, 'commit'>> {
  readonly cases: Pick<Cases, 'openBefore'>;
  readonly check: Pick<StandingCheck, 'announce'>;
}

/** Once an hour: announces once what is still open a day after a person left, in a commit for each case, and makes the standing check. */
export const overdueItems = ({ store, cases, check, now }: OverdueItemsParts): DueTask => ({
  work: 'leaver cases',
  undone: 'open items of persons who have left are not announced',
  look: async turn => {
    for await (const { record, items, person } of cases.openBefore(now() - caseBounds.overdueHours * hourMs)) {
      // Nothing has to end while a delay runs.
      const change = person.dueAt === null ? overdue(record, items, person) : null;
      if (change) await store.commit({ at: now(), actor: null, requestId: null, changes: [change] });
      if (turn.aborted) return false;
    }
    await check.announce();
    return false;
  },
  wait: turn => sleep(hourMs, turn),
});

/** Every ten minutes: erases those whose time by the policy has ended. */
export const dueErasures = (erasure: Pick<Erasure, 'eraseDue'>): DueTask => ({
  work: 'erasures',
  undone: 'persons are not erased at the end of their time',
  look: async turn => {
    await erasure.eraseDue(turn);
    return false;
  },
  wait: turn => sleep(ERASURES_MS, turn),
});

import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import {
  type EventType,
  eventTypes,
  hardwareEventTypes,
  journalEventTypes,
  pastEventTypes,
} from '../../src/contract/event-types.ts';
import { eventPage } from '../../src/contract/limits.ts';
import type { Data, Query } from '../../src/contract/routes.ts';
import { readDevice } from '../devices/lookups.ts';
import type { Reader } from '../store/store.ts';
import { entriesOfTypes } from './administration.ts';
import { userEventOf } from './frames.ts';

/** Reads past events. */
export class EventService {
  readonly #store: Pick<Reader, 'device' | 'events'>;

  constructor(store: Pick<Reader, 'device' | 'events'>) {
    this.#store = store;
  }

  /** Refuses with 2007 what only an ADMIN may select by, with 1001 an unknown type, then with 2001 an unknown device. */
  async list(query: Query<'listEvents'>, isAdmin: boolean): Promise<Data<'listEvents'>> {
    const { after = 0, before, limit = eventPage.default, actor, from, to } = query;
    const reserved = Object.entries({ actor, from, to }).find(([, value]) => value !== undefined);
    if (reserved && !isAdmin)
      throw new ApiError(
        Code.noPermission,
        `${reserved[0]} is for the role ADMIN: other roles do not see who did what`,
      );
    const all = isAdmin ? pastEventTypes : journalEventTypes;
    const wanted = query.types === undefined ? all : eventTypesIn(query.types, isAdmin);
    const ofTypes = entriesOfTypes(all.filter(type => wanted.includes(type)));
    const device = query.deviceId === undefined ? undefined : (await readDevice(this.#store, query.deviceId)).number;
    const [events, head] = await Promise.all([
      this.#store.events({ after, before, limit, ...ofTypes, device, actor, ...timesOf(from, to) }),
      this.#store.events({ after: 0, before: Number.POSITIVE_INFINITY, limit: 1, types: entriesOfTypes(all).types }),
    ]);
    return { list: events.map(event => userEventOf(event, isAdmin)!), head: head[0]?.id ?? 0 };
  }
}

/** The interface excludes the time `to`, a store includes it. */
const timesOf = (from: Date | undefined, to: Date | undefined) => ({
  from: from?.getTime(),
  to: to === undefined ? undefined : to.getTime() - 1,
});

/**
 * The event types in a comma-separated list. Refuses an unknown name with 1001. Those of administration are unknown to others than
 * ADMINs.
 */
export function eventTypesIn(text: string, isAdmin: boolean): readonly EventType[] {
  const names = text.split(',').map(name => name.trim());
  const known = new Set<string>(isAdmin ? eventTypes : [...journalEventTypes, ...hardwareEventTypes]);
  const unknown = names.find(name => !known.has(name));
  if (unknown !== undefined)
    throw inputError('types', `contains ${JSON.stringify(unknown)}, which is not an event type`);
  return names as EventType[];
}

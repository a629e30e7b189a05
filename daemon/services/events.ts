import { ApiError, Code } from '../../src/contract/codes.ts';
import type { DataOf, QueryOf } from '../../src/contract/define.ts';
import { eventPage } from '../../src/contract/limits.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { type EventType, eventTypes, journalEventTypes } from '../../src/contract/values.ts';
import { notificationOf } from '../notifications/frames.ts';
import type { Reader } from '../store/store.ts';
import { readDevice } from './reads.ts';

/** Reads past events. */
export class EventService {
  readonly #store: Pick<Reader, 'device' | 'events'>;

  constructor(store: Pick<Reader, 'device' | 'events'>) {
    this.#store = store;
  }

  /** Refuses with 1001 for an unknown type, then with 2001 for an unknown device. */
  async list(query: QueryOf<Routes['listEvents']>): Promise<DataOf<Routes['listEvents']>> {
    const { after = 0, before, limit = eventPage.default } = query;
    const wanted = query.types === undefined ? journalEventTypes : eventTypesIn(query.types);
    const types = journalEventTypes.filter(type => wanted.includes(type));
    const device = query.deviceId === undefined ? undefined : (await readDevice(this.#store, query.deviceId)).number;
    const [events, head] = await Promise.all([
      this.#store.events({ after, before, limit, types, device }),
      this.#store.events({ after: 0, before: Number.POSITIVE_INFINITY, limit: 1, types: journalEventTypes }),
    ]);
    return { list: events.map(event => notificationOf(event)!), head: head[0]?.id ?? 0 };
  }
}

/** The event types in a comma-separated list. Refuses an unknown name with 1001. */
export function eventTypesIn(text: string): readonly EventType[] {
  const names = text.split(',').map(name => name.trim());
  const unknown = names.find(name => !(eventTypes as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new ApiError(Code.parameterError, `types contains ${JSON.stringify(unknown)}, which is not an event type`);
  return names as EventType[];
}

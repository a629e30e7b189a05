import type { Bindings } from '../http/bindings.ts';
import type { EventService } from './events.ts';

/** The services of events. */
interface EventServices {
  readonly events: EventService;
}

/** Past events. */
export const eventOperations = (to: EventServices): Bindings => ({
  listEvents: ({ query, context: { caller } }) => to.events.list(query, caller.role === 'ADMIN'),
});

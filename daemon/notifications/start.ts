/** Past events. The stream of new ones is that of the server. */
import type { StartSubject } from '../http/subject.ts';
import { EventService } from './events.ts';

declare module '../http/subject.ts' {
  interface Offers {
    events: Pick<EventService, 'list'>;
  }
}

export const startEvents: StartSubject = ({ store, offers }) => {
  const events = new EventService(store);
  offers.events = events;
  return {
    operations: {
      listEvents: ({ query, context: { caller } }) => events.list(query, caller.role === 'ADMIN'),
    },
  };
};

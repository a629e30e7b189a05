/** Past events. The stream of new ones is that of the server. */
import type { StartSubject } from '../http/subject.ts';
import { EventService } from '../services/events.ts';
import { eventOperations } from './routes.ts';

export const startEvents: StartSubject = ({ store }) => ({
  operations: eventOperations({ events: new EventService(store) }),
});

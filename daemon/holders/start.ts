/** The people who hold the keys, and their own keys: the role HOLDER. */
import type { StartSubject } from '../http/subject.ts';
import { holderOperations } from './routes.ts';
import { HolderService } from './service.ts';

export const startHolders: StartSubject = ({ store, now, offers }) => ({
  operations: holderOperations(
    new HolderService({
      store,
      links: () => offers.holderLinks,
      receipts: () => offers.receipts,
      issuedAt: async device => (await offers.issuedAt?.(device)) ?? [],
      events: query => offers.events.list(query, false),
      now,
    }),
  ),
});

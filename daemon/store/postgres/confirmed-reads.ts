/**
 * The reads whose results others keep permanently: a cursor in the journal, a signed head, the response to a repeated request. They show
 * nothing that a failover can undo. The bound is taken before the read, which then uses no connection to an earlier primary.
 */
import type { Reader } from '../store.ts';
import type { Confirmed } from './confirmed.ts';

/** All reject with `StoreUnavailable` if what is visible cannot be confirmed. */
export function confirmedReads(
  reads: Pick<Reader, 'events' | 'lastEventId' | 'journalHead' | 'response'>,
  confirmed: Confirmed,
): typeof reads {
  const last = async () => {
    const id = await reads.lastEventId();
    await confirmed.reach(id);
    return Math.min(id, confirmed.id);
  };
  return {
    lastEventId: last,
    async events(filter) {
      const { through = Number.POSITIVE_INFINITY } = filter;
      return reads.events({ ...filter, through: through <= confirmed.id ? through : Math.min(through, await last()) });
    },
    journalHead: async id => reads.journalHead(id ?? (await last())),
    /** Not all responses belong to an entry, so that only a write confirms one. */
    async response(id, at) {
      if ((await reads.response(id, at)) === null) return null;
      await confirmed.write();
      return reads.response(id, at);
    },
  };
}

/** The list of what identity providers and the directory sent and the registry could not store. */
import { refusedBounds } from '../../src/contract/limits.ts';
import { type ProvisioningSource, provisioningSources } from '../../src/contract/person-values.ts';
import type { Data, Query } from '../../src/contract/routes.ts';
import { iso } from '../base/time.ts';
import { Service, type ServiceParts } from '../requests/context.ts';
import { pageOf } from '../store/page.ts';
import type { Store } from '../store/store.ts';
import { keptRefusals, numberOfSource, type RefusedAdd, type RefusedRequest } from './refused-records.ts';

/** A refused request, without its time: the list adds it. */
export type Refused = RefusedAdd['requests'][number];

/** Dependencies of the list. */
interface RefusedParts extends ServiceParts<Pick<Store, 'commit' | 'refusedRequests'>> {
  readonly log: { warn(data: object, message: string): void };
}

/** Writes of the list within a minute, by this daemon. More is only logged: a hostile sender must not wear out the disk. */
const MOST_WRITES = 120;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Adds to the list and reads it. */
export class RefusedRequests extends Service<RefusedParts> {
  #window = { since: 0, writes: 0 };

  /** The change that lists them, for the commit that stores the rest of the request; none if there is nothing to list. */
  changes(source: ProvisioningSource, refused: readonly Refused[]): RefusedAdd[] {
    if (refused.length === 0) return [];
    // Without names: the log is read by more people than the list.
    const fields = [...new Set(refused.map(({ field }) => field ?? 'request'))].slice(0, 20);
    this.parts.log.warn(
      { source, fields },
      'a provisioning request was not stored as sent: devmgr people refused has the reason',
    );
    if (this.now() - this.#window.since > MINUTE_MS) this.#window = { since: this.now(), writes: 0 };
    if (++this.#window.writes > MOST_WRITES) return [];
    const requests = refused.slice(0, refusedBounds.kept).map(({ userName, field, reason }) => ({
      userName: plain(userName),
      field: plain(field),
      reason: plain(reason),
    }));
    return [{ kind: 'refused.add', source, requests }];
  }

  /** Lists what has changed nothing else. */
  async add(source: ProvisioningSource, refused: readonly Refused[]): Promise<void> {
    const changes = this.changes(source, refused);
    if (changes.length > 0) await this.store.commit({ at: this.now(), actor: null, requestId: null, changes });
  }

  /** The newest first, unless the request wants another order. */
  async list({ source, ...page }: Query<'listRefusedRequests'>): Promise<Data<'listRefusedRequests'>> {
    const all = await this.all(source === undefined ? provisioningSources : [source]);
    return pageOf(page, all, ({ at, ...request }) => ({ at: iso(at), ...request }));
  }

  /** How many were refused within the last day, at most `refusedBounds.kept` of each source. */
  async recent(): Promise<number> {
    const since = this.now() - DAY_MS;
    return (await this.all(provisioningSources)).filter(({ at }) => at > since).length;
  }

  /** The requests of these sources that are kept. */
  async all(sources: readonly ProvisioningSource[]) {
    const rows = await this.store.refusedRequests();
    return sources.flatMap(source => {
      const { requests = [] } = rows.find(({ number }) => number === numberOfSource(source)) ?? {};
      return keptRefusals(requests, this.now()).map(request => ({ ...request, source }));
    });
  }
}

/** One line of limited length: the sender has chosen it. */
function plain<T extends RefusedRequest['userName']>(text: T): T {
  if (text === null) return text;
  const shown = [...text.slice(0, 4 * refusedBounds.text)].slice(0, refusedBounds.text);
  return shown.join('').replace(/\p{C}/gu, '\u{fffd}') as T;
}

/** Common parts of users and groups of SCIM 2.0: their requests, the look-up of persons, and lists that match a filter. */
import { KeyedMutex, TimeSlice } from '../base/concurrency.ts';
import type { Leavers } from '../people/leavers.ts';
import { personWith } from '../people/lookups.ts';
import type { PersonRecord } from '../people/records.ts';
import type { RefusedRequests } from '../people/refused.ts';
import { type Context, commitFor, retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { Change } from '../store/commit.ts';
import type { Rows } from '../store/queries.ts';
import { ScimError } from './error.ts';
import type { Filter } from './filter.ts';
import { matches } from './matching.ts';
import { etagOf } from './users.ts';

/** A request as the service sees it. */
export interface ScimRequest {
  readonly context: Context;
  /** Address of the service without a slash at its end. */
  readonly base: string;
  readonly body: unknown;
  /** The header If-Match; undefined without. */
  readonly ifMatch: string | undefined;
}

/** A part of a list: from the n-th match on, counted from 1. */
export interface ScimWindow {
  readonly filter: Filter | null;
  readonly startIndex: number;
  readonly count: number;
}

/** Refuses with 404. */
export const notFound = (id: string): ScimError => new ScimError(404, null, `${id} does not exist`);
/** Refuses with 409: the value of the field is that of another resource. */
export const taken = (field: 'userName' | 'externalId' | 'displayName', value: string): ScimError =>
  new ScimError(409, 'uniqueness', `${field} ${value} already exists`, field);

interface ScimParts extends ServiceParts {
  readonly leavers: Leavers;
  readonly refused: Pick<RefusedRequests, 'changes'>;
}

/** The resources of one kind. Refusals are `ScimError`s. */
export abstract class ScimResources extends Service<ScimParts> {
  protected readonly changes = new KeyedMutex<string>();

  /** One change of a resource at a time. */
  protected alone<T>(id: string, change: () => Promise<T>): Promise<T> {
    return this.changes.run(id, () => retrying(change));
  }

  protected commit({ context }: ScimRequest, changes: readonly Change[]) {
    return commitFor(this.store, context, { at: this.now(), changes });
  }

  /** The person with this id; null if there is none, or if the identity provider has removed the person. */
  protected async person(id: string): Promise<PersonRecord | null> {
    const person = await personWith(this.store, id);
    return person?.removedAt === null ? person : null;
  }
}

/** Refuses with 412 if the request is for another version. */
export function requireVersion({ ifMatch }: ScimRequest, version: number): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.split(',').some(tag => tag.trim() === etagOf(version)))
    return;
  throw new ScimError(412, null, `the resource was changed: it has version ${etagOf(version)} now`);
}

/** The window of all items whose resources match, as `shown` makes them. The others are counted and not kept. */
export async function matching<T>(
  portions: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  shown: (item: T) => unknown,
  filter: Filter,
  { startIndex, count }: ScimWindow,
): Promise<Rows<T>> {
  const rows: T[] = [];
  let total = 0;
  const slice = new TimeSlice();
  for await (const items of portions)
    for (const item of items) {
      if (matches(filter, shown(item) as Record<string, unknown>) && ++total >= startIndex && rows.length < count)
        rows.push(item);
      if (slice.over) await slice.pass();
    }
  return { rows, total };
}

/** The window of a list. */
export const part = <T>(all: readonly T[], { startIndex, count }: ScimWindow): Rows<T> => ({
  rows: all.slice(startIndex - 1, startIndex - 1 + count),
  total: all.length,
});

/** Requests of identity providers and the directory that the registry could not store: the newest of each source. No I/O. */
import { refusedBounds } from '../../src/contract/limits.ts';
import { type ProvisioningSource, provisioningSources } from '../../src/contract/person-values.ts';
import type { Entry } from '../store/journal.ts';

/** A value, or a whole request, that was refused. It names persons, so it is kept for a limited time and never in the journal. */
export interface RefusedRequest {
  /** When it was refused last; milliseconds since 1970 (UTC). */
  readonly at: number;
  /** Null if the request names no person. */
  readonly userName: string | null;
  /** Null if the whole request was refused. */
  readonly field: string | null;
  readonly reason: string;
}

/** The row of a source. */
export interface RefusedRow {
  /** The source: `numberOfSource`. */
  readonly number: number;
  /** The newest first. */
  readonly requests: readonly RefusedRequest[];
  /** When an event last reported refusals of the source; 0 if none has. */
  readonly announcedAt: number;
}

/** Adds to the list of a source. */
export interface RefusedAdd {
  readonly kind: 'refused.add';
  readonly source: ProvisioningSource;
  readonly requests: readonly Omit<RefusedRequest, 'at'>[];
}

/** The number of the row of a source. */
export const numberOfSource = (source: ProvisioningSource): number => provisioningSources.indexOf(source) + 1;

/** One event for each source in this time: a hostile sender must not fill the journal. */
const ANNOUNCED_MS = 3_600_000;

/** The requests that are still kept at `now`. */
export const keptRefusals = (requests: readonly RefusedRequest[], now: number): readonly RefusedRequest[] =>
  requests.filter(({ at }) => at > now - refusedBounds.days * 86_400_000);

const keyOf = ({ userName, field, reason }: Omit<RefusedRequest, 'at'>): string =>
  JSON.stringify([userName, field, reason]);

/** The row with these requests. A repeated one moves to the front. `entry`: present if the event is due. */
export function withRefusals(
  row: Omit<RefusedRow, 'number'> | null | undefined,
  { source, requests }: RefusedAdd,
  now: number,
): { readonly row: RefusedRow; readonly entry: Entry | null } {
  const before = keptRefusals(row?.requests ?? [], now);
  const known = new Set(before.map(keyOf));
  const added = new Map(requests.map(request => [keyOf(request), { ...request, at: now }]));
  const kept = [...added.values(), ...before.filter(request => !added.has(keyOf(request)))];
  const announcedAt = row?.announcedAt ?? 0;
  const isDue = announcedAt <= now - ANNOUNCED_MS && [...added.keys()].some(key => !known.has(key));
  return {
    row: {
      number: numberOfSource(source),
      requests: kept.slice(0, refusedBounds.kept),
      announcedAt: isDue ? now : announcedAt,
    },
    entry: isDue ? { type: 'PROVISIONING_REFUSED', data: { source } } : null,
  };
}

/** The digest of a person, which proves a record by the journal. No I/O. */
import { namesIn } from '../../src/contract/names.ts';
import { saltedDigest } from '../store/digest.ts';
import { enderIn } from './decisions.ts';
import type { PersonRecord } from './records.ts';

/** Fields that the digest of a person covers, in this order; `active` as 0 or 1, `names` and `groups` as JSON. */
const digestedFields = namesIn(
  'userName name names email externalId active groups source leftAt heldAt dueAt reason removedAt',
) satisfies readonly (keyof PersonRecord)[];

/** Fields that came later: the digest covers them if they have a value, so that those in older journals stay right. */
const laterFields = ['pendingName'] as const;
/** Fields of a row that its digest needs. */
export const digestSources = [...digestedFields, ...laterFields, 'endedBy'] as const;

/** The digest of a person, which entries of the journal have instead of names. It shows nothing once the salt is gone. */
export function personDigest(person: Pick<PersonRecord, (typeof digestSources)[number] | 'salt'>): string {
  const { names, active, groups } = person;
  const stored = {
    ...person,
    names: names && JSON.stringify(names),
    active: Number(active),
    groups: JSON.stringify(groups),
  };
  return rowDigest(stored);
}

/** The digest of a row as engines exchange it. */
export const rowDigest = (row: { readonly [K in (typeof digestSources)[number]]: unknown } & { salt: string }) =>
  saltedDigest(
    row.salt,
    JSON.stringify([
      ...digestedFields.map(field => row[field]),
      ...laterFields.filter(field => row[field] !== null).map(field => row[field]),
      // Persons of earlier journals have the one that their reason shows.
      ...(row.endedBy === null || row.endedBy === enderIn(row.reason) ? [] : [{ endedBy: row.endedBy }]),
    ]),
  );

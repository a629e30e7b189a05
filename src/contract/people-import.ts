/** The import of persons whom no identity provider and no directory sends. */
import { type Static, Type } from 'typebox';
import { batchData, batchOf, itemStatus } from './batch-shapes.ts';
import { additions, adminOnly } from './define.ts';
import { boolean, count, maybe, nullable, oneOf, shown } from './fields.ts';
import { bodyBounds, sizes } from './limits.ts';
import { personEmail, personName, personUserName } from './people.ts';
import { importOutcomes } from './person-values.ts';

/** A person in an import. */
export const importItem = {
  userName: personUserName,
  name: maybe(personName),
  email: maybe(personEmail),
  left: Type.Optional(boolean('true: the person leaves. A person whom an import does not name never leaves')),
};
const importChange = Type.Object({
  field: oneOf(['name', 'email', 'source'] as const),
  before: nullable(shown('value in the registry', 'Ada Lovelace')),
  after: nullable(shown('value of the item', 'Ada King')),
});
const importResult = Type.Object({
  userName: nullable(shown('user name as it was sent', 'ada.lovelace')),
  personId: nullable(shown('id of the person; null for one who is not in the registry', 'PER-1')),
  ...itemStatus,
  outcome: nullable(
    oneOf(importOutcomes, {
      description:
        'what the item does to the person; held, due: the person leaves, and the ACTIVE devices wait for a release or a delay. Null for a failed item',
    }),
  ),
  changes: Type.Array(importChange, { description: 'fields that change' }),
  devices: count('ACTIVE devices of the person that are locked or wait, if the person leaves'),
});
/** The effect of an import on a person, done or expected. */
export type ImportResult = Static<typeof importResult>;

/** The import of persons. */
export const peopleImportOperations = additions('Persons', {
  /** Idempotent: what a person has already is not changed. */
  importPeople: {
    summary: 'Add and update persons from a list',
    description:
      'For persons who come from neither an identity provider nor a directory; their source is `import`. If a name or address is absent, the stored one stays, and a person who is not in the list is not changed. The item of a person with another source fails if it would change something. With `adopt`, persons who were added here become imported ones. `left` has the effect of leaving, with the same brake. Of two equal user names the first one counts. Returns 200 even if items fail; results are in the order of the items, and the accepted ones are committed together.',
    ...adminOnly,
    bodyLimit: sizes.batchBody,
    bodyValues: bodyBounds.manyValues,
    batchOf: 'people',
    body: Type.Object({
      people: batchOf(Type.Object(importItem, { additionalProperties: true })),
      adopt: Type.Optional(boolean('persons of the source `local` become imported ones; false if absent')),
      dryRun: Type.Optional(boolean('the results are those of an import, but nothing is changed; false if absent')),
    }),
    data: batchData('number of items that were accepted', importResult),
    example: { body: { people: [{ userName: 'ada.lovelace', name: 'Ada Lovelace', email: 'ada@example.com' }] } },
  },
});

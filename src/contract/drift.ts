/** Comparing the persons of an identity provider with what the provider has, where it can be read. */
import { Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import { boolean, count, nullable, oneOf, shown, timestamp } from './fields.ts';
import { driftBounds } from './limits.ts';
import { personId } from './people.ts';
import { driftReasons } from './person-values.ts';

/** The comparison with providers. */
export const driftOperations = additions('Persons', {
  /** A second request finds what the first one has not changed. */
  comparePeople: {
    summary: 'Compare the persons of an identity provider with what it has',
    description: `Reads the users of every provider of type entra or okta, and compares them with the active persons who came over SCIM: by externalId, else by user name. If someone is gone or disabled there, the request that reports the leave may never have arrived. With apply, these persons leave, and the brake applies. If a provider cannot be read, has no users, or fewer than half of the known persons, \`problem\` has the reason and nothing is changed. One daemon makes this comparison once a day and changes nothing; the figure \`drift\` of the standing check has the result. Shows at most ${driftBounds.shown} persons. Counts as one query.`,
    ...adminOnly,
    limit: 'query',
    body: Type.Object({
      apply: Type.Optional(boolean('true: persons who are gone or disabled there leave')),
    }),
    data: Type.Object({
      readAt: timestamp('when the providers were read'),
      providers: Type.Array(shown('name of a provider that can be read'), { description: 'providers that were read' }),
      problem: nullable(shown('why nothing was compared')),
      read: count('users of the providers'),
      unknown: count('enabled users there who are not in the registry; most are not assigned to it'),
      total: count('persons who are active here, and gone or disabled there'),
      list: Type.Array(
        Type.Object({
          personId,
          userName: shown('user name', 'ada.lovelace'),
          why: oneOf(driftReasons, { description: 'what the provider has: no such user, or a disabled one' }),
          outcome: oneOf(['active', 'left', 'held', 'due'], {
            description: 'active: nothing was changed; left, held, due: with apply, as for a leave',
          }),
        }),
      ),
    }),
    example: { body: { apply: false } },
  },
});

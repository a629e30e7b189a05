/** Matching: devices that are bound to a name without a person, and accounts, are given to persons. */
import { type Static, Type } from 'typebox';
import { batchData, batchOf, itemStatus } from './batch-shapes.ts';
import { additions, adminOnly } from './define.ts';
import { maybe, nullable, oneOf, shown, token } from './fields.ts';
import { deviceIds } from './ids.ts';
import { bodyBounds } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { personId } from './people.ts';

/** Names in a match. */
export const matchItem = {
  deviceId: Type.Optional(token({ description: 'device id; absent with accountId', examples: ['DEV-1'] })),
  accountId: Type.Optional(token({ description: 'id of an account, in place of deviceId', examples: ['USR-1'] })),
  personId: token({ description: 'id of the person', examples: ['PER-1'] }),
};
const matchCandidate = Type.Object({
  personId,
  userName: shown('user name of the person', 'ada.lovelace'),
  why: oneOf(['case', 'accents', 'email', 'name'] as const, {
    description:
      'what is equal: the name itself (several persons have had it), the name without accents, the e-mail address, or the full name',
  }),
});
/** A person whom a device may belong to. */
export type MatchCandidate = Static<typeof matchCandidate>;
const unmatchedDevice = Type.Object({
  deviceId: Type.String({ pattern: deviceIds.pattern, examples: ['DEV-1'] }),
  userId: shown('name that the device is bound to', 'Ada Lovelace'),
  candidates: Type.Array(matchCandidate, { description: 'whom it may belong to, the nearest first' }),
});
/** A device that is bound to a name without a person. */
export type UnmatchedDevice = Static<typeof unmatchedDevice>;

/** Operations on devices that are bound to a name without a person. */
export const matchingOperations = additions('Persons', {
  /** In the order of the devices. */
  listUnmatched: {
    summary: 'List devices that are bound to a name without a person',
    description: 'A device that is bound to the user name of a person belongs to that person and is not listed.',
    ...adminOnly,
    query: Type.Object(pageQuery()),
    data: paged(unmatchedDevice),
  },

  /** What belongs to the person already is not changed. */
  matchPeople: {
    summary: 'Give devices and accounts to persons',
    description:
      'A device then shows the user name of the person; an ACTIVE device of a person who has left is locked. An account keeps its name, follows new user names of the person, and ends with the person; the person must be active, and a service token cannot give one. Returns 200 even if items fail; results are in the order of the items, and the accepted ones are committed together.',
    ...adminOnly,
    bodyValues: bodyBounds.manyValues,
    batchOf: 'matches',
    body: Type.Object({
      matches: batchOf(Type.Object(matchItem, { additionalProperties: true })),
    }),
    data: batchData(
      'number of devices and accounts that belong to the person, counted by item',
      Type.Object({
        deviceId: nullable(shown('device id as it was sent', 'DEV-1')),
        accountId: maybe(shown('account id as it was sent; absent for a device', 'USR-1')),
        personId: nullable(shown('id of the person as it was sent', 'PER-1')),
        ...itemStatus,
      }),
    ),
    example: { body: { matches: [{ deviceId: 'DEV-1', personId: 'PER-1' }] } },
  },
});

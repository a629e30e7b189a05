/** Cases: what a person who has left still has or had, until an ADMIN closes the case. */
import { type Static, Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import { boolean, count, line, nullable, oneOf, shown, timestamp, token } from './fields.ts';
import { textLengths } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { ofOne, personId } from './people.ts';
import { caseKinds, caseStates } from './person-values.ts';

const caseItem = Type.Object({
  kind: oneOf(caseKinds),
  id: shown('id of the item; of a session that of its account, of a PIN that of its device', 'DEV-1'),
  state: oneOf(caseStates),
  reason: nullable(shown('why it is in this state; of a kept item the reason of the ADMIN', 'LOCKED')),
});
const caseTimes = {
  opened: timestamp('when the person left'),
  closed: nullable(timestamp('when an ADMIN closed the case, or the person came back; null: open')),
};
const leaverCase = Type.Object({ ...caseTimes, items: Type.Array(caseItem) });
/** The case of a person who has left. */
export type LeaverCase = Static<typeof leaverCase>;

/** Operations on the cases of persons who have left. */
export const caseOperations = additions('Persons', {
  /** The oldest first. Of a person who left twice, the last case. */
  listCases: {
    summary: 'List cases of persons who have left',
    description:
      'A case opens when a person leaves. `next` is the first item that is open; null: nothing is open, and the case can be closed.',
    ...adminOnly,
    query: Type.Object({
      ...pageQuery(),
      open: Type.Optional(boolean('true: open cases; false: closed ones; true if absent')),
    }),
    data: paged(
      Type.Object({
        personId,
        userName: shown('user name of the person', 'ada.lovelace'),
        name: nullable(shown('full name', 'Ada Lovelace')),
        ...caseTimes,
        open: count('open items'),
        kept: count('items that an ADMIN keeps'),
        next: nullable(caseItem),
      }),
    ),
  },

  /** Of a person who left twice, the last case. */
  showCase: {
    summary: 'Show the case of a person who has left',
    description:
      'The devices, accounts and credentials of the person, with their current state: an item is closed as soon as its device, account or credential ends. Open items come first. A closed case has the items of its closing; one that ended because the person is back has none. 404: the person has not left.',
    ...adminOnly,
    ...ofOne,
    data: leaverCase,
  },

  /** Of one that is kept already, the reason is replaced. A closed case is not changed. */
  keepCaseItem: {
    summary: 'Keep an item of a case',
    // A case can have more items than a minute has modifications.
    limit: 'query',
    description:
      'The item stays, for this reason, and no longer prevents the closing of the case. An item that is closed or unknown is 1001.',
    ...adminOnly,
    ...ofOne,
    body: Type.Object({
      kind: oneOf(caseKinds),
      id: token({ description: 'id of the item', examples: ['DEV-1'] }),
      reason: line(textLengths.reason, { description: 'why it stays', examples: ['shared key of the workshop'] }),
    }),
    data: leaverCase,
    example: {
      params: { personId: 'PER-1' },
      body: { kind: 'device', id: 'DEV-1', reason: 'shared key of the workshop' },
    },
  },

  /** Idempotent. */
  closeCase: {
    summary: 'Close the case of a person who has left',
    limit: 'query',
    description:
      'Refused with 1001 while an item is open. The journal has the digest of the case, with its items and the reasons of those that are kept.',
    ...adminOnly,
    ...ofOne,
    data: leaverCase,
  },
});

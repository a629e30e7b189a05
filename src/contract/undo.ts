/** Undo of what a source of persons, or a match, has moved and locked. */
import { type Static, Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import { boolean, count, instant, nullable, oneOf, shown, token } from './fields.ts';
import { undoBounds } from './limits.ts';
import { undoFields, undoOutcomes } from './person-values.ts';

const undoStep = Type.Object({
  kind: oneOf(['person', 'account', 'device']),
  id: shown('id of the person, account or device', 'DEV-1'),
  name: nullable(shown('user name of the person or account; userId of the device', 'ada.lovelace')),
  outcome: oneOf(undoOutcomes, {
    description:
      'restored: it is, or with dryRun would be, as before the batch; unchanged: it already was; left: it is not changed, see reason',
  }),
  changes: Type.Array(
    Type.Object({
      field: oneOf(undoFields),
      before: nullable(shown('present value', 'LOCKED')),
      after: nullable(shown('value before the batch', 'ACTIVE')),
    }),
    { description: 'fields that change' },
  ),
  reason: nullable(shown('why it, or a part of it, is left alone', 'the device was retired: that is permanent')),
});
/** A person, account or device that a batch has changed, and how that is undone. */
export type UndoStep = Static<typeof undoStep>;

/** Undo of a batch. */
export const undoOperations = additions('Persons', {
  /** Idempotent: what is as it was before the batch is not changed again. */
  undoPeople: {
    summary: 'Undo a batch of changes of a source of persons',
    description: `A batch is what one request has changed (\`requestId\`), or what one actor has changed from a time on (\`actor\`, \`from\`, \`to\`). Persons who left through it are active again; user name, name, e-mail address, \`externalId\`, source and groups are as before, and a user name that waits for a release is dropped; accounts that it disabled are enabled; devices that it locked or gave to someone else are as before. Who had which key is read from the journal, which has the former values of persons sealed. What others have changed since then is not changed. The brake does not apply. Entries of earlier versions have no former values of persons: \`reason\` names these fields. Persons who were added stay; if such a person has no device, and has a user name or \`externalId\` that another person gets back, the added person gives it up and leaves. Each person, account and device is a separate commit. A response has ${undoBounds.portion} of them; \`next\` is where the following request continues. Looks at the last ${undoBounds.searched.toLocaleString('en')} entries of the journal. Counts as one query.`,
    ...adminOnly,
    stepUp: true,
    limit: 'query',
    body: Type.Object({
      requestId: Type.Optional(token({ description: 'id of the request, as `GET /api/people/log` shows it' }, 128)),
      actor: Type.Optional(
        token(
          { description: 'who made the changes, as `GET /api/people/log` shows it', examples: ['token:okta'] },
          128,
        ),
      ),
      from: Type.Optional(instant('the first moment of the batch, with `actor`')),
      to: Type.Optional(instant('the moment after the batch, with `actor`; absent: until now')),
      dryRun: Type.Optional(boolean('the response shows what would be done, and nothing is changed; false if absent')),
      after: Type.Optional(count('`next` of the previous response')),
    }),
    data: Type.Object({
      total: count('persons, accounts and devices that the batch has changed'),
      list: Type.Array(undoStep),
      next: nullable(count('after of the next request; null at the end')),
    }),
    example: { body: { actor: 'token:okta', from: '2026-11-30T08:00:00Z', dryRun: true } },
  },
});

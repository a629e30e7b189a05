/** The store's own part, stated like a subject: documents, entries without a change, responses to requests with an idempotency key. */
import type { JournalAdd, JournalRotate } from './journal.ts';
import { withAnswer } from './read/records.ts';
import { subject } from './subject.ts';
import { documents, documentVersion, responses } from './tables.ts';
import { Documents, documentChanges, documentGuards, documentReplay } from './write/documents.ts';
import { responseChanges } from './write/responses.ts';
import { type ChangeRules, done } from './write/rule.ts';

/** Entries without a change. */
const journalChanges: ChangeRules<(JournalAdd | JournalRotate)['kind']> = {
  'journal.add': {
    apply(draft, { entry, device, subject }, context) {
      draft.enter(context, entry, device, subject);
      return done;
    },
  },
  'journal.rotate': {
    apply(draft, { key, entry }, context) {
      draft.rotate(context, entry, key);
      return done;
    },
  },
};

export const own = subject({
  replaced: [Documents],
  changes: { ...documentChanges, ...journalChanges, ...responseChanges },
  guards: documentGuards,
  kept: [documentVersion],
  replays: () => [{ takes: 'document', replay: documentReplay() }],
  reads: queries => ({
    document: name => queries.one(documents.byKey, name),
    documentVersion: name => withAnswer(queries.one(documentVersion, name), found => found?.version ?? 0),
    response: (id, at) =>
      withAnswer(queries.one(responses.byKey, id), found => {
        if (found === null || found.expiresAt <= at) return null;
        const { digest, status, body } = found;
        return { digest, status, body };
      }),
  }),
});

/** What the changes of credentials at providers mean, and their entries. */
import { credentialIds, providerIds } from '../../../src/contract/ids.ts';
import type { CredentialChange, CredentialRecord } from '../../domain/credential.ts';
import { Conflict } from '../commit.ts';
import { credentials } from '../tables.ts';
import { fixedReplay } from './replay.ts';
import { adding, type ChangeRules, done, withFields } from './rule.ts';

const fresh = { credentialId: null, remoteId: null, issuedAt: null, uncertainAt: null, removedAt: null, version: 1 };

export const credentialChanges: ChangeRules<CredentialChange['kind']> = {
  'credential.add': adding(credentials, ({ credential }) => ({ ...credential, ...fresh })),
  'credential.set': {
    needs: ({ credential }, wanted) => wanted.add(credentials.byKey, credential),
    check(draft, { credential, before }) {
      if (draft.of(credentials).get(credential)?.version !== before)
        throw new Conflict(`credential ${credential} was changed at the same time`);
    },
    apply(draft, { credential, before, set, entry }, context) {
      const present = draft.of(credentials).get(credential)!;
      // It ends when its entry is written: the audit compares the two times.
      const ended = set.removedAt == null ? {} : { removedAt: context.at };
      draft.of(credentials).change({ ...withFields(present, set), ...ended, version: before + 1 });
      if (entry) draft.enter(context, entry, null, credential);
      return done;
    },
  },
};

/** What the key and the provider call a credential is not in the journal. */
export const credentialReplay = () =>
  fixedReplay<CredentialRecord>({
    table: 'credential',
    added: 'CREDENTIAL_BEGUN',
    ended: 'CREDENTIAL_REMOVED',
    endedAt: 'removedAt',
    fixed: ['provider', 'createdAt'],
    said: ({ at, detail: { providerId } }) => ({ provider: providerId, createdAt: at }),
    written: ({ provider }) => ({ provider: providerIds.format(provider) }),
    format: credentialIds.format,
  });

/** Rules for the changes of credentials at providers, and their entries. */
import { credentialIds, providerIds } from '../../src/contract/ids.ts';
import { Conflict } from '../store/commit.ts';
import { type Report, RowReplay } from '../store/write/replay.ts';
import { adding, type ChangeRules, done, withFields } from '../store/write/rule.ts';
import { type CredentialChange, type CredentialRecord, credentialDigest, credentialFields } from './credential.ts';
import { credentials } from './tables.ts';

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

/** Facts about a credential in the entries. */
interface RecordedCredential {
  readonly fixed: readonly unknown[];
  readonly removedAt: unknown;
  /** Null if no entry has one. */
  readonly digest: unknown;
}

type ComparedCredential = Pick<
  CredentialRecord,
  'number' | 'createdAt' | 'removedAt' | (typeof credentialFields)[number]
>;

/** Account, device and names of a credential are in the journal as a digest. Rows of earlier entries are compared without it. */
class CredentialReplay extends RowReplay<number, ComparedCredential, RecordedCredential> {
  constructor() {
    super({
      table: 'credential',
      fields: ['number', 'createdAt', 'removedAt', ...credentialFields],
      key: ({ number }) => number,
      said({ type, at, detail }, before) {
        const { providerId, credentialDigest: digest = null } = detail;
        if (type === 'CREDENTIAL_BEGUN') return { fixed: [providerId, at], removedAt: null, digest };
        if (type === 'CREDENTIAL_REMOVED') return before && { ...before, removedAt: at };
        // A daemon of an earlier version issues without a digest what this one has begun.
        return before && { ...before, digest };
      },
      found: row => ({
        fixed: [providerIds.format(row.provider), row.createdAt],
        removedAt: row.removedAt,
        digest: credentialDigest(row),
      }),
      nameOf: credentialIds.format,
    });
  }

  override compare(row: ComparedCredential, report: Report): void {
    const isProved = this.said.get(row.number)?.digest !== null;
    super.compare(isProved ? row : { ...row, salt: null }, report);
  }
}

/** Compares the credentials with the journal. */
export const credentialReplay = () => new CredentialReplay();

import type { EntryType } from '../store/journal.ts';

type Details = Readonly<Record<string, unknown>>;

/** Parts of the text of an entry. */
interface EntryParts {
  readonly type: string;
  readonly details: Details;
}

/** Values come from clients and from the database: as JSON, control characters stay away from the terminal. */
const plain = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'unknown';
  return /^"[\w.:/-]*"$/.test(text) ? text.slice(1, -1) : text;
};

/** Words for each type of entry. Types that are not here show their fields. */
const sentences: Partial<Record<EntryType, (details: Details) => string>> = {
  LOGIN_SUCCEEDED: () => 'logged in',
  LOGIN_FAILED: ({ reason }) => `could not log in${typeof reason === 'string' ? `: ${reason}` : ''}`,
  OPERATION_REFUSED: ({ operation, role }) => `was refused ${plain(operation)} with the role ${plain(role)}`,
  CONFIRMATION_FAILED: ({ field }) => `gave a wrong ${plain(field)}`,
  ACTIVATION_CODE_WRONG: () => 'gave an activation code that is wrong or has expired',
  PACKAGE_DOWNLOADED: ({ versionId }) => `downloaded ${plain(versionId)}`,
  BACKUP_DOWNLOADED: ({ backupId }) => `downloaded ${plain(backupId)}`,
  SIGNING_KEY_ROTATED: ({ revoked }) => `replaced the signing key${revoked ? ' and revoked all earlier tokens' : ''}`,
  JOURNAL_KEY_ROTATED: () => 'replaced the journal key: later entries are authenticated with the new one',
  REGISTRY_RESTORED: ({ restoredTo }) =>
    `the registry was restored from a backup that ended at entry ${plain(restoredTo)}`,
};

/** Entries of types that summarize what happened within a minute. */
const summed: Partial<Record<EntryType, string>> = {
  LOGIN_SUCCEEDED: 'logins',
  LOGIN_FAILED: 'logins that failed',
  OPERATION_REFUSED: 'refused operations',
  CONFIRMATION_FAILED: 'wrong confirmations',
  ACTIVATION_CODE_WRONG: 'wrong activation codes',
  PACKAGE_DOWNLOADED: 'downloads of packages',
  BACKUP_DOWNLOADED: 'downloads of backups',
};

/** The entry in words; null if its fields say it. */
export function entryText({ type, details }: EntryParts): string | null {
  const sentence = sentences[type as EntryType];
  if (!sentence) return null;
  const { address, count, first, last } = details;
  const span = `between ${plain(first)} and ${plain(last)}`;
  if (details.summed === true)
    return `${plain(count)} more ${summed[type as EntryType]}, of further accounts or addresses, ${span}`;
  const from = address === undefined ? '' : ` from ${plain(address)}`;
  const times = typeof count === 'number' && count > 1 ? `, ${count} times ${span}` : '';
  return sentence(details) + from + times;
}

/** Who an entry without an actor is about: the daemon, or a client that no account is known of. */
export function nameWithoutActor({ type, details }: EntryParts): string {
  if (summed[type as EntryType] === undefined) return 'devmgr';
  if (details.summed === true) return '-';
  return type === 'LOGIN_FAILED' ? 'unknown account' : 'this machine';
}

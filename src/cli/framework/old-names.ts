/** Names that commands had in earlier versions: they run the command of today, and no help or completion shows them. */
import { isGlobalFlag, takesValue } from './global-words.ts';

/** The meaning of an old name. */
interface NewName {
  readonly words: string;
  /** Added, because the command once did less or for one thing, unless `without` is typed; that word is then left out. */
  readonly adds: string;
  readonly without?: string;
}

/** The words of today by the old ones. That of a group also holds for its members. */
export const oldNames: Readonly<Record<string, string | NewName>> = {
  spool: 'enroll spool',
  'spool ls': 'enroll spool list',
  pin: 'keys',
  verify: 'keys verify',
  code: 'replace-code',
  usage: 'record-use',
  backups: 'device-backups',
  'backups ls': 'device-backups list',
  receipt: 'receipts',
  'receipt make': 'receipts add',
  upload: 'apps add',
  'apps upload': 'apps add',
  'trust import': 'trust add',
  'tokens revoke': 'tokens remove',
  'users keys': 'users passkeys',
  'users remove-key': 'users remove-passkey',
  'users require-key': 'users require-passkey',
  'people keys': 'people devices',
  'people held': 'people leave held',
  'people release': 'people leave release',
  'policies set': 'policies update',
  janitor: 'cleanup',
  sso: 'providers',
  'sso show': { words: 'providers show', adds: 'oidc' },
  'sso set': 'providers update oidc',
  'sso test': { words: 'providers test', adds: 'oidc' },
  'sso remove': { words: 'providers remove', adds: 'oidc' },
  'sso rm': { words: 'providers remove', adds: 'oidc' },
  directory: 'providers',
  'directory show': { words: 'providers show', adds: 'ldap' },
  'directory set': 'providers update ldap',
  'directory test': { words: 'providers test', adds: 'ldap' },
  'directory remove': { words: 'providers remove', adds: 'ldap' },
  'directory rm': { words: 'providers remove', adds: 'ldap' },
  idp: 'providers',
  'idp secret': 'providers update',
  'idp reconcile': { words: 'providers reconcile', adds: '--dry-run', without: '--apply' },
};

/** An old name that was typed, and the words for it. */
export interface Renamed {
  readonly old: string;
  readonly now: string;
}

/** The command line with the names of today. `renamed` is null if it has no old one. */
export function withoutOldNames(argv: readonly string[]): {
  readonly words: readonly string[];
  readonly renamed: Renamed | null;
} {
  const [first = -1, second = -1] = nameIndexes(argv);
  const two = `${argv[first]} ${argv[second]}`;
  const old = [two, argv[first] ?? ''].find(name => Object.hasOwn(oldNames, name));
  if (old === undefined) return { words: argv, renamed: null };
  const found = oldNames[old]!;
  const {
    words: now,
    adds,
    without,
  }: Partial<NewName> & Pick<NewName, 'words'> = typeof found === 'string' ? { words: found } : found;
  const rest = argv.filter((_, at) => at !== first && !(old === two && at === second));
  const isAdded = adds !== undefined && (without === undefined || !rest.includes(without));
  const name = isAdded ? `${now} ${adds}` : now;
  const after = rest.slice(first).filter(word => word !== without);
  return { words: [...rest.slice(0, first), ...name.split(' '), ...after], renamed: { old, now: name } };
}

/** Indexes of the first two names: global flags, their values and `help` are skipped. */
function nameIndexes(argv: readonly string[]): readonly number[] {
  const found: number[] = [];
  for (let at = 0; at < argv.length && found.length < 2; at++) {
    const word = argv[at]!;
    if (takesValue.has(word)) at++;
    else if (isGlobalFlag(word) || (word === 'help' && found.length === 0)) continue;
    else if (word.startsWith('-')) break;
    else found.push(at);
  }
  return found;
}

/** The notice about an old name. */
export const renamedWords = ({ old, now }: Renamed): string => `devmgr ${old} is now: devmgr ${now}`;

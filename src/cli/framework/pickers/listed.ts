/** Pick one thing of a list that is read as a whole before the question: a user, a profile, an application version, a token. */
import type { AppVersion } from '../../../contract/apps.ts';
import type { Backup } from '../../../contract/backups.ts';
import { Code } from '../../../contract/codes.ts';
import type { ServiceToken } from '../../../contract/tokens.ts';
import type { User } from '../../../contract/users.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { pagesOf, type ServerPage } from '../../client/pages.ts';
import { Fault } from '../../fault.ts';
import { type ChoiceSource, searchOne } from '../../terminal/search-prompts.ts';
import { bytes, localTime } from '../../terminal/when.ts';
import { checkArgument, ruleOf } from '../ask.ts';
import type { Context } from '../context.ts';
import { aligned } from './aligned.ts';

/** Pages of a list that are read for a question: a tenth of the queries of a minute. */
const mostPages = 10;

/** Something to choose. */
interface ListedEntry<T> {
  readonly value: T;
  /** What the list shows, in columns; the search looks into all of them. */
  readonly cells: readonly string[];
  readonly description?: string | undefined;
}

/** The question, and the error if there is no terminal or nothing to choose from. */
interface ListQuestion {
  readonly question: string;
  /** Name of the argument that is missing, as in the usage line. */
  readonly argument: string;
  /** The command, as in `users update`. */
  readonly command: string;
  /** In words: `no user can be chosen`. */
  readonly none: string;
}

/**
 * One entry of a list. Throws a usage fault that names the argument if no one can be asked, and a fault of kind `absent` if the
 * list is empty.
 */
async function pickListed<T>(
  context: Context,
  { question, argument, command, none }: ListQuestion,
  read: () => Promise<{ readonly entries: readonly ListedEntry<T>[]; readonly more: number }>,
): Promise<T> {
  checkArgument(context, undefined, argument, command);
  const { entries, more } = await read();
  if (entries.length === 0) throw new Fault('absent', none);
  return searchOne(context.out, question, sourceOf(entries, more));
}

/** Searches among entries. `more` others exist and were not read. */
function sourceOf<T>(entries: readonly ListedEntry<T>[], more: number): ChoiceSource<T> {
  const names = aligned(entries.map(({ cells }) => cells));
  const choices = entries.map(({ value, description }, index) => ({
    value,
    name: names[index]!,
    short: entries[index]!.cells.slice(0, 2).join(' '),
    ...(description === undefined ? {} : { description }),
  }));
  return async typed => {
    const wanted = typed.toLowerCase();
    const found = choices.filter((_, index) => entries[index]!.cells.some(cell => cell.toLowerCase().includes(wanted)));
    return { choices: found, more };
  };
}

/** How an item of a paged list is shown. */
interface ShownItem<T> {
  readonly cells: (item: T) => readonly string[];
  /** Null for none. */
  readonly description?: (item: T) => string | null;
  /** Whether it can be chosen; by default all can. */
  readonly fits?: (item: T) => boolean;
}

/** Those of the first thousand items of a paged list that fit. */
async function firstEntries<T>(
  pages: AsyncIterable<ServerPage<T>>,
  { cells, description = () => null, fits = () => true }: ShownItem<T>,
): Promise<{ readonly entries: readonly ListedEntry<T>[]; readonly more: number }> {
  const items: T[] = [];
  let read = 0;
  let total = 0;
  for await (const { list, pagination } of pages) {
    items.push(...list);
    total = pagination.total;
    if (++read >= mostPages) break;
  }
  const entries = items
    .filter(fits)
    .map(item => ({ value: item, cells: cells(item), description: description(item) ?? undefined }));
  return { entries, more: Math.max(0, total - items.length) };
}

/** A user of the registry; only an ADMIN may list them. `fits` selects those that the command works on. */
export function pickUser(context: Context, command: string, fits: (user: User) => boolean = () => true): Promise<User> {
  const question = { question: 'User', argument: 'USER', command, none: 'no user can be chosen' };
  return pickListed(context, question, () => userEntries(context, fits));
}

const userEntries = ({ registry }: Context, fits: (user: User) => boolean) =>
  firstEntries(pagesOf(registry, 'listUsers'), { cells: userCells, fits });

const userCells = ({ id, username, role, disabled, email }: User): readonly string[] => [
  id,
  username,
  role,
  disabled ? 'disabled' : 'enabled',
  email ?? '',
];

/**
 * The name of a user of the registry, or what was typed: devices can be bound to people who are not its users. Null if the caller
 * may not list users.
 */
export async function pickBoundUser(context: Context, question: string): Promise<string | null> {
  const enabled = userEntries(context, ({ disabled }) => !disabled);
  const known = await nullIfRefused(enabled, Code.noPermission);
  if (known === null) return null;
  const { entries, more } = known;
  const users = sourceOf(
    entries.map(entry => ({ ...entry, value: entry.value.username })),
    more,
  );
  return searchOne(
    context.out,
    question,
    async (typed, search) => {
      const found = await users(typed, search);
      if (typed === '') return found;
      const itself = { value: typed, name: typed, description: 'exactly this text' };
      return { ...found, choices: [itself, ...found.choices.filter(({ value }) => value !== typed)] };
    },
    ruleOf('userId'),
  );
}

/** An uploaded application version, the newest first. */
export function pickVersion(context: Context, command: string): Promise<AppVersion> {
  const question = {
    question: 'Version',
    argument: 'VERSION_ID',
    command,
    none: 'no application version has been uploaded',
  };
  return pickListed(context, question, () =>
    firstEntries(pagesOf(context.registry, 'listAppVersions'), { cells: versionCells }),
  );
}

const versionCells = ({ versionId, platform, version, fileName, fileSize }: AppVersion): readonly string[] => [
  versionId,
  platform,
  version,
  fileName,
  bytes(fileSize),
];

/** A backup of a device, the newest first. */
export function pickBackup(context: Context, command: string, deviceId: string): Promise<Backup> {
  const none = `${deviceId} has no backups`;
  const question = { question: `Backup of ${deviceId}`, argument: 'BACKUP_ID', command, none };
  return pickListed(context, question, () =>
    firstEntries(pagesOf(context.registry, 'listBackups', { params: { deviceId } }), {
      cells: backupCells,
      description: ({ note }) => note,
    }),
  );
}

const backupCells = ({ backupId, fileName, fileSize, createdAt }: Backup): readonly string[] => [
  backupId,
  fileName,
  bytes(fileSize),
  localTime(createdAt),
];

/** A service token that is neither revoked nor expired. */
export function pickToken(context: Context, command: string): Promise<ServiceToken> {
  const question = { question: 'Service token', argument: 'TOKEN', command, none: 'there is no valid service token' };
  const fits = (token: ServiceToken) => token.revokedAt === null && Date.parse(token.expiresAt) > Date.now();
  return pickListed(context, question, () =>
    firstEntries(pagesOf(context.registry, 'listTokens'), { cells: tokenCells, fits }),
  );
}

const tokenCells = ({ tokenId, name, role, expiresAt }: ServiceToken): readonly string[] => [
  tokenId,
  name,
  role,
  `until ${localTime(expiresAt)}`,
];

/** One of the known profiles. */
export function pickProfile(
  context: Context,
  command: string,
  profiles: readonly ListedEntry<string>[],
): Promise<string> {
  const question = { question: 'Profile', argument: 'NAME', command, none: 'there is no profile' };
  return pickListed(context, question, async () => ({ entries: profiles, more: 0 }));
}

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
  /** Cells of the list; the search looks into all of them. */
  readonly cells: readonly string[];
  /** Null for none. */
  readonly description?: string | null;
}

/** Items that were read of a list. `more` others exist and were not read. */
interface ListedEntries<T> {
  readonly entries: readonly ListedEntry<T>[];
  readonly more: number;
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
  read: () => ListedEntries<T> | Promise<ListedEntries<T>>,
): Promise<T> {
  checkArgument(context, undefined, argument, command);
  const found = await read();
  if (found.entries.length === 0) throw new Fault('absent', none);
  return searchOne(context.out, question, sourceOf(found));
}

/** Searches among entries. */
function sourceOf<T>({ entries, more }: ListedEntries<T>): ChoiceSource<T> {
  const names = aligned(entries.map(({ cells }) => cells));
  const choices = entries.map(({ value, cells, description }, index) => ({
    value,
    name: names[index]!,
    short: cells.slice(0, 2).join(' '),
    ...(description && { description }),
  }));
  return async typed => {
    const wanted = typed.toLowerCase();
    const found = choices.filter((_, index) => entries[index]!.cells.some(cell => cell.toLowerCase().includes(wanted)));
    return { choices: found, more };
  };
}

/** The matches among the first thousand items of a paged list. */
async function firstEntries<T>(
  pages: AsyncIterable<ServerPage<T>>,
  entryOf: (item: T) => Omit<ListedEntry<T>, 'value'>,
  fits: (item: T) => boolean = () => true,
): Promise<ListedEntries<T>> {
  const items: T[] = [];
  let read = 0;
  let total = 0;
  for await (const { list, pagination } of pages) {
    items.push(...list);
    total = pagination.total;
    if (++read >= mostPages) break;
  }
  const entries = items.filter(fits).map(item => ({ value: item, ...entryOf(item) }));
  return { entries, more: Math.max(0, total - items.length) };
}

/** A user of the registry; only an ADMIN may list them. `fits` selects those that the command works on. */
export function pickUser(context: Context, command: string, fits?: (user: User) => boolean): Promise<User> {
  const question = { question: 'User', argument: 'USER', command, none: 'no user can be chosen' };
  return pickListed(context, question, () => userEntries(context, fits));
}

const userEntries = ({ registry }: Context, fits?: (user: User) => boolean) =>
  firstEntries(
    pagesOf(registry, 'listUsers'),
    ({ id, username, role, disabled, email }) => ({
      cells: [id, username, role, disabled ? 'disabled' : 'enabled', email ?? ''],
    }),
    fits,
  );

/**
 * The name of a user of the registry, or what was typed: devices can be bound to people who are not its users. Null if the caller
 * may not list users.
 */
export async function pickBoundUser(context: Context, question: string): Promise<string | null> {
  const enabled = userEntries(context, ({ disabled }) => !disabled);
  const known = await nullIfRefused(enabled, Code.noPermission);
  if (known === null) return null;
  const entries = known.entries.map(entry => ({ ...entry, value: entry.value.username }));
  const users = sourceOf({ ...known, entries });
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

/** An uploaded application version, the newest first, for `apps download`. */
export function pickVersion(context: Context): Promise<AppVersion> {
  const none = 'no application version has been uploaded';
  const question = { question: 'Version', argument: 'VERSION_ID', command: 'apps download', none };
  return pickListed(context, question, () =>
    firstEntries(
      pagesOf(context.registry, 'listAppVersions'),
      ({ versionId, platform, version, fileName, fileSize }) => ({
        cells: [versionId, platform, version, fileName, bytes(fileSize)],
      }),
    ),
  );
}

/** A backup of a device, the newest first, for `device-backups restore`. */
export function pickBackup(context: Context, deviceId: string): Promise<Backup> {
  const none = `${deviceId} has no backups`;
  const question = {
    question: `Backup of ${deviceId}`,
    argument: 'BACKUP_ID',
    command: 'device-backups restore',
    none,
  };
  return pickListed(context, question, () =>
    firstEntries(
      pagesOf(context.registry, 'listBackups', { params: { deviceId } }),
      ({ backupId, fileName, fileSize, createdAt, note }) => ({
        cells: [backupId, fileName, bytes(fileSize), localTime(createdAt)],
        description: note,
      }),
    ),
  );
}

/** A service token that is neither revoked nor expired, for `tokens remove`. */
export function pickToken(context: Context): Promise<ServiceToken> {
  const none = 'there is no valid service token';
  const question = { question: 'Service token', argument: 'TOKEN', command: 'tokens remove', none };
  return pickListed(context, question, () =>
    firstEntries(
      pagesOf(context.registry, 'listTokens'),
      ({ tokenId, name, role, expiresAt }) => ({ cells: [tokenId, name, role, `until ${localTime(expiresAt)}`] }),
      token => token.revokedAt === null && Date.parse(token.expiresAt) > Date.now(),
    ),
  );
}

/** One of the known profiles, for `config use`. */
export function pickProfile(context: Context, entries: readonly ListedEntry<string>[]): Promise<string> {
  const question = { question: 'Profile', argument: 'NAME', command: 'config', none: 'there is no profile' };
  return pickListed(context, question, () => ({ entries, more: 0 }));
}

/** Accounts that a leave would not find: no person has their name. With the persons to whom they may belong. */
import type { DataOf } from '../../../contract/define.ts';
import { namesIn } from '../../../contract/names.ts';
import type { Person } from '../../../contract/people.ts';
import { personKey, withoutAccents } from '../../../contract/person-key.ts';
import type { Routes } from '../../../contract/routes.ts';
import { itemsOf } from '../../client/pages.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { presentList } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import type { MatchKind } from './match-file.ts';

type Account = DataOf<Routes['listUsers']>['list'][number];
interface Unfound extends Pick<Account, 'username' | 'role'> {
  readonly userId: string;
  readonly candidates: readonly Pick<Person, 'personId' | 'userName'>[];
}

const fields = namesIn('userId username role candidates') satisfies readonly (keyof Unfound)[];
const columns: Column<Unfound>[] = [
  { title: 'ACCOUNT', value: ({ userId }) => userId },
  { title: 'USER NAME', value: ({ username }) => username },
  { title: 'ROLE', value: ({ role }) => role },
  {
    title: 'MAY BELONG TO',
    value: ({ candidates }) => candidates.map(one => `${one.userName} ${one.personId}`).join(', ') || null,
    shorten: 'end',
  },
];

/** Candidates that are shown of an account. */
const MOST = 5;

/** The words of a name without accents, whatever is between them. */
const wordsOf = (text: string): string =>
  withoutAccents(personKey(text))
    .split(/[^\p{L}\p{N}]/u)
    .filter(Boolean)
    .join(' ');

/** The forms by which an account and a person are compared: name, address, and the part of an address before the `@`. */
const formsOf = (...texts: readonly (string | null)[]): Set<string> => {
  const given = texts.filter(text => text !== null);
  return new Set(given.flatMap(text => [wordsOf(text), wordsOf(text.split('@')[0]!)]).filter(Boolean));
};

/** The enabled accounts without a person. */
async function unmatchedAccounts({ registry }: Pick<Context, 'registry'>): Promise<readonly Unfound[]> {
  const accounts: {
    readonly account: Account;
    readonly forms: Set<string>;
    readonly found: Unfound['candidates'][number][];
  }[] = [];
  for await (const account of itemsOf(registry, 'listUsers', {}))
    if (!account.disabled && account.personId === undefined)
      accounts.push({ account, forms: formsOf(account.username, account.email), found: [] });
  const names = new Set<string>();
  for await (const { personId, userName, name, email } of itemsOf(registry, 'listPeople', {})) {
    names.add(personKey(userName));
    const forms = formsOf(userName, name, email);
    for (const one of accounts)
      if (one.found.length < MOST && [...forms].some(form => one.forms.has(form)))
        one.found.push({ personId, userName });
  }
  return accounts
    .filter(({ account }) => !names.has(personKey(account.username)))
    .map(({ account: { id, username, role }, found }) => ({ userId: id, username, role, candidates: found }));
}

/** Lists the enabled accounts without a person. */
export async function listAccounts(context: Context): Promise<void> {
  const list = [...(await unmatchedAccounts(context))];
  const listing = { fields, columns, id: 'userId' } as const;
  await presentList(context, { list }, listing, 'Every enabled account belongs to a person.');
}

/** Accounts, for `people match --accounts`. */
export const accountMatches: MatchKind = {
  what: 'account',
  id: 'accountId',
  name: 'username',
  async *unmatched(context) {
    for (const { userId, username, candidates } of await unmatchedAccounts(context))
      yield { id: userId, name: username, candidates };
  },
  async resolve(context, named) {
    const found = (await unmatchedAccounts(context)).find(({ userId, username }) => [userId, username].includes(named));
    if (!found)
      throw usage(`${named} is not an enabled account without a person`, 'see: devmgr people match --accounts');
    return found.userId;
  },
};

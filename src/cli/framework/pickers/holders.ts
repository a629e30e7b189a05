/** Pick whom a device is bound to: a person of the registry, searched for by user name, name and e-mail address. */
import type { Person } from '../../../contract/people.ts';
import { searchOne } from '../../terminal/search-prompts.ts';
import { ruleOf } from '../ask.ts';
import type { Context } from '../context.ts';
import { ifKnown, personsWith } from '../persons.ts';
import { aligned } from './aligned.ts';
import { pickBoundUser } from './listed.ts';
import { type SearchLookup, ServerSearch } from './server-search.ts';

/** Persons that a list offers; typing on finds the others. */
const offered = 50;

/**
 * A user name, or what was typed: devices can be bound to others than persons. A registry without persons offers its accounts. `typed` is
 * searched for first. Null if the caller may see neither.
 */
export async function pickHolder(context: Context, question: string, typed = ''): Promise<string | null> {
  const search = new ServerSearch(context.registry, lookup);
  const first = await ifKnown(search.first());
  if (!first?.choices.length) return typed === '' ? pickBoundUser(context, question) : typed;
  return searchOne(context.out, question, search.find, ruleOf('userId'), typed);
}

const lookup: SearchLookup<string> = async (typed, client) => {
  const { list, pagination } = await personsWith(client, typed, { active: true, size: offered });
  const names = aligned(list.map(({ userName, name, email }) => [userName, name ?? '', email ?? '']));
  const choices = list.map(({ userName }, index) => ({ value: userName, name: names[index]!, short: userName }));
  const itself = { value: typed, name: typed, description: 'exactly this text: not a person' };
  const isPerson = typed === '' || list.some(person => isCalled(person, typed));
  return { choices: isPerson ? choices : [...choices, itself], more: Math.max(0, pagination.total - list.length) };
};

const isCalled = ({ userName }: Person, typed: string): boolean => userName.toLowerCase() === typed.toLowerCase();

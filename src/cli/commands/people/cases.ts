/** The cases of persons who have left: what they still have, what is kept, and the end. */

import type { LeaverCase } from '../../../contract/cases.ts';
import type { DataOf } from '../../../contract/define.ts';
import { namesIn } from '../../../contract/names.ts';
import type { Person } from '../../../contract/people.ts';
import { caseKinds } from '../../../contract/person-values.ts';
import type { Routes } from '../../../contract/routes.ts';
import { counted } from '../../count.ts';
import { reasonOf } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { findPerson, personArg, personWords } from '../../framework/persons.ts';
import { present } from '../../framework/present.ts';
import { presentPage } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

type CaseItem = LeaverCase['items'][number];
type ListedCase = DataOf<Routes['listCases']>['list'][number];

const itemWords = ({ kind, id }: Pick<CaseItem, 'kind' | 'id'>): string => `${kind} ${id}`;

/** The items of a case, one in a row, and the next command. */
function show(context: Context, person: Person, data: LeaverCase): Promise<void> {
  const { closed, items } = data;
  const open = items.find(({ state }) => state === 'open');
  const named = safe(person.personId);
  const next = open
    ? `devmgr people case keep ${named} ${safe(itemWords(open))} --reason TEXT, or end it`
    : `devmgr people case close ${named}`;
  return present(context, {
    data,
    id: person.personId,
    title: `${safe(personWords(person))}: case ${closed === null ? 'open' : 'closed'}`,
    rows: [
      ['left', localTime(data.opened)],
      ['closed', closed === null ? null : localTime(closed)],
      ...items.map(item => [safe(itemWords(item)), itemState(context, item)] as const),
      ['items', items.length > 0 ? null : 'none'],
    ],
    next: closed === null ? next : null,
  });
}

function itemState({ out }: Context, { state, reason }: CaseItem): string {
  const words = out.paint(state === 'open' ? 'red' : state === 'kept' ? 'yellow' : 'green', safe(state));
  return reason === null ? words : `${words}: ${safe(reason)}`;
}

/** Shows a case: `GET /api/people/{personId}/case`. */
export const peopleCase = command({
  description:
    'Lists the keys, accounts and credentials of a person who has left, with their current state. An item closes when its key, account or credential ends.',
  args: [personArg],
  examples: { 'what the person still has': 'people case ada.lovelace' },
  async run({ args }, context) {
    const person = await findPerson(context.registry, args[0]!);
    await show(context, person, await context.registry.call('showCase', { params: { personId: person.personId } }));
  },
});

/** Keeps an item: `POST /api/people/{personId}/case/keep`. */
export const caseKeep = command({
  description: 'The item stays, with this reason and your name. The case can then be closed.',
  args: [
    personArg,
    { name: 'KIND', help: 'kind of the item, as people case shows it', choices: caseKinds },
    { name: 'ID', help: 'id of the item' },
  ],
  flags: { reason: { value: 'TEXT', help: 'why it stays' } },
  examples: { 'a key that others use': 'people case keep ada.lovelace device DEV-7 --reason "key of the workshop"' },
  async run({ args: [named, kind, id], flags }, context) {
    const person = await findPerson(context.registry, named!);
    const reason = await reasonOf(context, flags.reason);
    const body = { kind: kind as CaseItem['kind'], id: id!, reason };
    await show(
      context,
      person,
      await context.registry.call('keepCaseItem', { params: { personId: person.personId }, body }),
    );
  },
});

/** Closes a case: `POST /api/people/{personId}/case/close`. */
export const caseClose = command({
  description: 'Refused while an item is open: end each, or keep it with a reason.',
  args: [personArg],
  examples: { 'nothing is open': 'people case close ada.lovelace' },
  async run({ args }, context) {
    const person = await findPerson(context.registry, args[0]!);
    await show(context, person, await context.registry.call('closeCase', { params: { personId: person.personId } }));
  },
});

const fields = namesIn('personId userName name opened closed open kept next') satisfies readonly (keyof ListedCase)[];
const columns: Column<ListedCase>[] = [
  { title: 'PERSON', value: ({ personId }) => personId },
  { title: 'USER NAME', value: ({ userName }) => userName, shorten: 'end', least: 20 },
  { title: 'NAME', value: ({ name }) => name, shorten: 'end', drop: 1 },
  { title: 'LEFT', value: ({ opened }) => localTime(opened) },
  { title: 'OPEN', value: ({ open }) => String(open), style: ({ open }) => (open > 0 ? 'red' : null) },
  { title: 'KEPT', value: ({ kept }) => String(kept) },
  { title: 'NEXT', value: ({ closed, next }) => (next ? itemWords(next) : closed === null ? 'close' : null) },
];

/** Lists cases: `GET /api/people/cases`. */
export const peopleCases = command({
  flags: { closed: { help: 'closed cases' }, ...pageFlags('cases'), ...listFlags(fields) },
  examples: {
    'open cases, the oldest first, with what to end next': 'people cases',
    'closed ones, as a file': 'people cases --closed --csv',
  },
  async run({ flags }, context) {
    const { page, limit: size } = flags;
    const query = definedFields({ open: !flags.closed, page, size });
    const data = await context.registry.call('listCases', { query });
    const none = flags.closed ? 'No case is closed.' : 'No case is open.';
    return presentPage(context, data, { fields, columns, id: 'personId' }, { what: 'cases', none });
  },
});

/** Open items in one line; null if there are none. */
export const openWords = ({ items }: LeaverCase): string | null => {
  const open = items.filter(({ state }) => state === 'open');
  if (open.length === 0) return null;
  const named = open.slice(0, 5).map(item => safe(itemWords(item)));
  return `${counted(open.length, 'item')}: ${named.join(', ')}${open.length > named.length ? ', …' : ''}`;
};

/** Persons who leave, and what the brake holds. */
import { namesIn } from '../../../contract/names.ts';
import type { HeldPerson } from '../../../contract/people.ts';
import { provisioningSources } from '../../../contract/person-values.ts';
import type { RefusedRequestItem } from '../../../contract/provisioning.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { count, counted } from '../../count.ts';
import { usage } from '../../fault.ts';
import { reasonOf } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { findPerson, personArg, personWords } from '../../framework/persons.ts';
import { present } from '../../framework/present.ts';
import { presentList, presentPage } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { openWords } from './cases.ts';
import { idsIn, personColumns, personFields } from './people.ts';

const keys = (number: number): string => counted(number, 'key');

/** A person leaves: `POST /api/people/{personId}/leave`. */
export const peopleLeave = command({
  description:
    'Locks every ACTIVE key of the person at once, and disables the account with that user name, whose service tokens are then refused: to keep one, devmgr tokens adopt. A policy can retire the keys instead, or add a delay: devmgr policies show. If leavers within 10 minutes have more than 5 % of all ACTIVE keys, and at least 10, their keys are held until you release them: devmgr people leave held.',
  args: [personArg],
  flags: {
    reason: { value: 'TEXT', help: 'reason of the locks, for the journal' },
    yes: { short: 'y', help: 'do not ask for confirmation' },
  },
  examples: {
    'asks before it locks': 'people leave ada.lovelace --reason "has left"',
    'in a script': 'people leave ada.lovelace --reason "has left" --yes',
  },
  async run({ args, flags }, context) {
    const { registry, out } = context;
    const person = await findPerson(registry, args[0]!);
    const words = safe(personWords(person));
    const reason = await reasonOf(context, flags.reason);
    if (!flags.yes) {
      if (!context.canAsk) throw usage(`the keys of ${words} will be locked`, 'add --yes');
      await demandYes(out, `Lock the keys of ${words} (${keys(person.devices)} in any state)?`);
    }
    const data = await registry.call('personLeaves', { params: { personId: person.personId }, body: { reason } });
    const [locked, held] = [textsIn(data.locked), textsIn(data.held)];
    // A server of an earlier version has no cases.
    const open = await nullIfRefused(registry.call('showCase', { params: { personId: person.personId } }), 404);
    await present(context, {
      data,
      id: locked.join('\n'),
      title: `${words} has left`,
      rows: [
        ['locked', locked.length > 0 ? safe(locked.join(' ')) : held.length > 0 ? null : 'no key was ACTIVE'],
        ['accounts', idsIn(data.accounts)],
        ['tokens', idsIn(data.tokens)],
        ['credentials', idsIn(data.credentials)],
        ['held', held.length > 0 ? safe(held.join(' ')) : null],
        ['locked later', typeof data.dueAt === 'string' ? localTime(data.dueAt) : null],
        ['still open', open && (openWords(open) ?? 'nothing')],
      ],
      next:
        held.length > 0
          ? `devmgr people leave release ${safe(person.personId)}`
          : open && `devmgr people case ${safe(person.personId)}`,
    });
  },
});

/** A person is back: `POST /api/people/{personId}/return`. */
export const peopleBack = command({
  description:
    'The person can get keys again. No key is unlocked: the command shows the keys that were locked when the person left. The account stays disabled; to enable it: devmgr users update NAME --enable.',
  args: [personArg],
  examples: { 'the person is active again': 'people back ada.lovelace' },
  async run({ args }, context) {
    const person = await findPerson(context.registry, args[0]!);
    const data = await context.registry.call('personReturns', { params: { personId: person.personId } });
    const locked = textsIn(data.lockedDevices).map(safe).join(' ');
    const words = safe(personWords(person));
    await present(context, {
      data,
      id: person.personId,
      title: person.active ? `${words} had not left` : `${words} is back`,
      rows: [['still locked', person.active ? null : locked || 'no key']],
      next: locked ? `devmgr unlock ${locked}` : null,
    });
  },
});

const heldFields = [
  ...personFields,
  'heldAt',
  'newUserName',
  'deviceIds',
] as const satisfies readonly (keyof HeldPerson)[];
const heldColumns: Column<HeldPerson>[] = [
  ...(personColumns.filter(({ title }) =>
    ['PERSON', 'USER NAME', 'NAME', 'SOURCE'].includes(title),
  ) as Column<HeldPerson>[]),
  { title: 'HELD', value: person => localTime(person.heldAt) },
  { title: 'WAITS FOR', value: ({ newUserName }) => (newUserName === null ? 'locks' : `user name ${newUserName}`) },
  { title: 'ACTIVE KEYS', value: person => textsIn(person.deviceIds).join(' ') || null, shorten: 'end' },
];

/** Lists held leavers: `GET /api/people/held`. */
export const peopleHeld = command({
  flags: listFlags(heldFields),
  examples: {
    'who is held, and with which keys': 'people leave held',
    'their ids, to release all of them': 'people leave held --quiet',
  },
  async run(_, context) {
    const data = await context.registry.call('listHeldPeople');
    await presentList(
      context,
      data,
      { fields: heldFields, columns: heldColumns, id: 'personId' },
      'No leaver is held.',
    );
  },
});

const refusedFields = namesIn('at source userName field reason') satisfies readonly (keyof RefusedRequestItem)[];
const refusedColumns: Column<RefusedRequestItem>[] = [
  { title: 'TIME', value: ({ at }) => localTime(at) },
  { title: 'SOURCE', value: ({ source }) => source },
  { title: 'USER NAME', value: ({ userName }) => userName },
  { title: 'LEFT OUT', value: ({ field }) => field ?? 'all of it' },
  { title: 'REASON', value: ({ reason }) => reason, shorten: 'end' },
];

/** Lists what could not be stored: `GET /api/people/refused`. */
export const peopleRefused = command({
  description:
    'An invalid name or e-mail address is left out and the rest is stored; without a valid user name the request is refused. Correct the values at the identity provider or in the directory.',
  flags: {
    source: { value: 'SOURCE', choices: provisioningSources, help: 'who sent it' },
    ...pageFlags('requests'),
    ...listFlags(refusedFields),
  },
  examples: { 'what was not stored, and why': 'people refused' },
  async run({ flags }, context) {
    const { source, page, limit: size } = flags;
    const data = await context.registry.call('listRefusedRequests', { query: definedFields({ source, page, size }) });
    const listing = { fields: refusedFields, columns: refusedColumns, id: 'at' } as const;
    return presentPage(context, data, listing, { what: 'requests', none: 'Everything was stored as it was sent.' });
  },
});

/** Locks the keys of held leavers: `POST /api/people/release`. */
export const peopleRelease = command({
  description:
    'Shows the keys that will be locked and the new user names, and asks. Without PERSON, all who are held are released.',
  args: [{ ...personArg, optional: true, rest: true }],
  flags: { yes: { short: 'y', help: 'do not ask for confirmation' } },
  examples: {
    'all of them, after a confirmation': 'people leave release',
    'one, in a script': 'people leave release PER-7 --yes',
  },
  async run({ args, flags }, context) {
    const { registry, out } = context;
    const { list } = await registry.call('listHeldPeople');
    const wanted = args.length === 0 ? list : await chosen(context, list, args);
    if (wanted.length === 0) return out.notice('No leaver is held.');
    const total = wanted.reduce((sum, { active, deviceIds }) => sum + (active ? 0 : textsIn(deviceIds).length), 0);
    const named = wanted.filter(({ active }) => active).length;
    const renames = named === 0 ? '' : ` and give ${counted(named, 'new user name')}`;
    if (!flags.yes) {
      for (const person of wanted)
        out.notice(`${safe(personWords(person))}: ${safe(person.newUserName ?? textsIn(person.deviceIds).join(' '))}`);
      if (!context.canAsk)
        throw usage(
          `${keys(total)} will be locked${renames && `, ${counted(named, 'new user name')} given`}`,
          'add --yes',
        );
      await demandYes(out, `Lock ${keys(total)} of ${counted(wanted.length - named, 'leaver')}${renames}?`);
    }
    const body = { personIds: wanted.map(({ personId }) => personId) };
    const data = await registry.call('releasePeople', { body });
    const locked = textsIn(data.locked);
    await present(context, {
      data,
      id: locked.join('\n'),
      title: `${count(textsIn(data.released).length)} released`,
      rows: [['locked', locked.length > 0 ? safe(locked.join(' ')) : 'no key was ACTIVE']],
    });
  },
});

async function chosen(
  { registry }: Context,
  list: readonly HeldPerson[],
  names: readonly string[],
): Promise<HeldPerson[]> {
  const found: HeldPerson[] = [];
  for (const name of names) {
    const { personId } = await findPerson(registry, name);
    found.push(...list.filter(person => person.personId === personId));
  }
  return found;
}

import { Code } from '../../../contract/codes.ts';
import type { DataOf } from '../../../contract/define.ts';
import { namesIn } from '../../../contract/names.ts';
import type { Person } from '../../../contract/people.ts';
import { personSources } from '../../../contract/person-values.ts';
import type { Routes } from '../../../contract/routes.ts';
import { deviceListFields } from '../../../contract/values.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { pagesOf } from '../../client/pages.ts';
import { need } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { findPerson, personArg, personWords } from '../../framework/persons.ts';
import { present } from '../../framework/present.ts';
import { pageQuery, presentAll, presentPage } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { deviceColumns } from '../devices/columns.ts';

/** Fields of a person in a list. */
export const personFields = namesIn(
  'personId userName name email externalId active groups source leftAt devices',
) satisfies readonly (keyof Person)[];

/** Columns of a list of persons. */
export const personColumns: Column<Person>[] = [
  { title: 'PERSON', value: person => person.personId },
  { title: 'USER NAME', value: person => person.userName, shorten: 'end', least: 20 },
  { title: 'NAME', value: person => person.name, shorten: 'end', least: 16 },
  {
    title: 'STATE',
    value: person => (person.active ? 'active' : 'left'),
    style: person => (person.active ? null : 'red'),
  },
  { title: 'KEYS', value: person => String(person.devices) },
  { title: 'E-MAIL', value: person => person.email, shorten: 'end', drop: 1 },
  { title: 'GROUPS', value: person => groupsOf(person), shorten: 'end', drop: 2 },
  { title: 'SOURCE', value: person => person.source, drop: 3 },
];

/** Null for none, and of a server of an earlier version. */
export const idsIn = (value: Parameters<typeof textsIn>[0]): string | null =>
  textsIn(value).map(safe).join(' ') || null;

const groupsOf = ({ groups }: Person): string | null => textsIn(groups).join(', ') || null;

/** Lists persons: `GET /api/people/list`. */
export const peopleList = command({
  flags: {
    keyword: { value: 'TEXT', short: 'k', help: 'part of a name, an e-mail address or an id' },
    source: { value: 'SOURCE', choices: personSources, help: 'source of the person' },
    group: { value: 'NAME', help: 'only members of this group' },
    left: { help: 'only persons who have left', conflicts: ['active'] },
    active: { help: 'only persons who have not left' },
    'without-key': {
      conflicts: ['with-one-key'],
      help: 'only persons without an ACTIVE key who have not left; with --left, those who have left',
    },
    'with-one-key': { help: 'only persons with exactly one ACTIVE key, who would have none if they lost it' },
    all: { help: 'every person instead of one page', conflicts: ['page'] },
    ...pageFlags('persons'),
    ...listFlags(personFields),
  },
  examples: {
    'persons and how many keys they have': 'people list',
    'by a part of the name': 'people list --keyword lovelace',
    'who still needs a key, as a list of user names': 'people list --without-key --all --csv --fields userName,name',
    'who has left and still has keys': `people list --left --jq '.list[] | select(.devices > 0)'`,
  },
  async run({ flags }, context) {
    const { keyword, source, group, page, limit: size } = flags;
    const activeDevices = flags.withoutKey ? 0 : flags.withOneKey ? 1 : undefined;
    const active = flags.left ? false : flags.active || activeDevices !== undefined ? true : undefined;
    const filter = { keyword, source, group, active, activeDevices };
    const query = definedFields({ ...filter, page, size });
    const listing = { fields: personFields, columns: personColumns, id: 'personId' } as const;
    const isAll = Object.values(filter).every(value => value === undefined);
    const none = isAll ? 'The registry has no persons. Add one: devmgr people add NAME' : 'No person matches.';
    if (flags.all) return presentAll(context, pagesOf(context.registry, 'listPeople', { query }), listing, none);
    const data = await context.registry.call('listPeople', { query });
    return presentPage(context, data, listing, { what: 'persons', none, all: '--all' });
  },
});

/** Shows a person: `GET /api/people/{personId}`. */
export const peopleShow = command({
  args: [personArg],
  examples: {
    'by user name': 'people show ada.lovelace',
    'by a part of the name': 'people show lovelace',
  },
  async run({ args }, context) {
    const person = await findPerson(context.registry, args[0]!);
    const params = { personId: person.personId };
    // Only an ADMIN may see it, and a server of an earlier version does not have it.
    const access = await nullIfRefused(context.registry.call('getPersonAccess', { params }), Code.noPermission, 404);
    await show(context, { ...person, ...access });
  },
});

/** Adds a person: `POST /api/people`. */
export const peopleAdd = command({
  description:
    'To bind a device to the person, use the user name: activate --user, enroll --activate-for. An identity provider adds persons over SCIM: see providers add scim.',
  args: [{ name: 'NAME', help: 'user name', optional: true }],
  flags: {
    name: { value: 'NAME', empty: true, help: 'full name' },
    email: { value: 'ADDRESS', empty: true, help: 'e-mail address' },
  },
  examples: { 'with the full name': 'people add ada.lovelace --name "Ada Lovelace" --email ada@example.com' },
  async run({ args, flags }, context) {
    const hint = 'devmgr people add NAME';
    const userName = await need(context, args[0], {
      flag: 'the user name',
      question: 'User name',
      hint,
      field: 'userId',
    });
    const body = definedFields({ userName, name: flags.name, email: flags.email });
    await show(context, await context.registry.call('createPerson', { body }), 'was added');
  },
});

type ShownPerson = Person & Partial<DataOf<Routes['getPersonAccess']>>;

function show(context: Context, person: ShownPerson, what = ''): Promise<void> {
  const { personId, userName, name, email, externalId, active, source, leftAt, devices } = person;
  return present(context, {
    data: person,
    id: personId,
    title: [safe(personId), safe(userName), what].filter(Boolean).join(' '),
    rows: [
      ['name', safe(name)],
      ['e-mail', safe(email)],
      ['state', active ? 'active' : leftAt === null ? 'left' : `left on ${localTime(leftAt)}`],
      ['keys', safe(String(devices))],
      ['groups', safe(groupsOf(person))],
      ['source', safe(source)],
      ['external id', safe(externalId)],
      ['accounts', idsIn(person.accounts)],
      ['tokens', idsIn(person.tokens)],
      ['webhooks', idsIn(person.webhooks)],
    ],
    next: devices > 0 ? `devmgr people devices ${safe(personId)}` : null,
  });
}

/** Lists the devices of a person: `GET /api/devices/list`. */
export const peopleKeys = command({
  args: [personArg],
  flags: { ...pageFlags('keys'), ...listFlags(deviceListFields) },
  examples: {
    'the keys of a person, in any state': 'people devices ada.lovelace',
    'their ids, for another command': 'people devices ada.lovelace --quiet',
  },
  async run({ args, flags }, context) {
    const person = await findPerson(context.registry, args[0]!);
    const query = { userId: person.userName, ...pageQuery(flags) };
    const data = await context.registry.call('listDevices', { query });
    const listing = { fields: deviceListFields, columns: deviceColumns(), id: 'deviceId' } as const;
    const none = `${safe(personWords(person))} has no keys.`;
    return presentPage(context, data, listing, { what: 'keys', none });
  },
});

/** The log of provisioning: changes that the sources of persons have sent. */
import type { DataOf } from '../../../contract/define.ts';
import { namesIn } from '../../../contract/names.ts';
import { personSources } from '../../../contract/person-values.ts';
import type { Routes } from '../../../contract/routes.ts';
import { command, definedFields } from '../../framework/define.ts';
import { pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { findPerson, personArg } from '../../framework/persons.ts';
import { presentPage } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { textsIn } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

type Item = DataOf<Routes['listProvisioning']>['list'][number];

const fields = namesIn(
  'at source actor personId userName outcome fields reason requestId',
) satisfies readonly (keyof Item)[];
const columns: Column<Item>[] = [
  { title: 'TIME', value: ({ at }) => localTime(at) },
  { title: 'SOURCE', value: ({ source }) => source },
  { title: 'PERSON', value: ({ personId }) => personId },
  { title: 'USER NAME', value: ({ userName }) => userName, shorten: 'end', least: 16 },
  {
    title: 'WHAT',
    value: ({ outcome }) => outcome,
    style: ({ outcome }) => (outcome === 'refused' ? 'red' : null),
  },
  { title: 'FIELDS', value: item => textsIn(item.fields).join(', ') || null, shorten: 'end' },
  { title: 'REASON', value: ({ reason }) => reason, shorten: 'end' },
  { title: 'BY', value: ({ actor }) => actor, shorten: 'end', drop: 1 },
];

/** Lists what sources have sent: `GET /api/people/log`. */
export const peopleLog = command({
  description:
    'Lists the last changes of persons by an identity provider, the directory, an import or an ADMIN, with the names of the fields, and refused requests with the reason. Values are not shown: the journal does not have them.',
  args: [{ ...personArg, optional: true }],
  flags: {
    source: { value: 'SOURCE', choices: personSources, help: 'only what this source has sent' },
    ...pageFlags('entries'),
    ...listFlags(fields),
  },
  examples: {
    'what arrived last, and what was refused': 'people log',
    'of one person': 'people log ada.lovelace',
  },
  async run({ args, flags }, context) {
    const { source, page, limit: size } = flags;
    const personId = args[0] === undefined ? undefined : (await findPerson(context.registry, args[0])).personId;
    const query = definedFields({ source, personId, page, size });
    const data = await context.registry.call('listProvisioning', { query });
    return presentPage(context, data, { fields, columns, id: 'at' }, { what: 'entries', none: 'Nothing was sent.' });
  },
});

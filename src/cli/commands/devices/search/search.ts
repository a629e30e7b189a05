import { paging } from '../../../../contract/limits.ts';
import { count } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import type { Column } from '../../../terminal/column.ts';
import { safe, shellWord } from '../../../terminal/text.ts';
import { userColumns } from '../../accounts/users.ts';
import { appColumns } from '../../files/apps.ts';
import { personColumns } from '../../people/people.ts';
import { deviceColumns } from '../columns.ts';
import { findAll, type Group, type SearchResults, searchedRecords } from './find.ts';

/** Searches devices, users, persons and application versions for a text. Exit code 5 if nothing matches. */
export const search = command({
  isPaged: true,
  description: `Ignores upper and lower case. Devices match by a part of the deviceId or serial number, or by the user they are bound to; users and persons by a part of the id, name or e-mail address; application versions by a part of the id, platform, version, name or file name. Only the newest ${searchedRecords} users and application versions are searched. Only an ADMIN can search users and e-mail addresses of persons, and a VIEWER cannot search persons.\nExit code 0 if something matches, else 5.`,
  args: [{ name: 'TEXT', help: 'what to search for' }],
  flags: {
    limit: {
      value: 'N',
      short: 'n',
      whole: { min: 1, max: paging.maxSize },
      default: 10,
      help: 'matches to show of each kind',
    },
  },
  examples: {
    'everything about alice': 'search alice',
    'a part of a serial number': 'search 2026-0000 --limit 50',
    'is this serial number known?': 'search UK-2026-000001 --quiet',
  },
  async run({ args, flags }, context) {
    const text = args[0]!.trim();
    if (text === '') throw usage('the text to search for is empty', 'give a part of a serial number, an id or a name');
    const searching = findAll(context.registry, text, flags.limit);
    const found = await context.out.progress.during('Searching', searching);
    const count = groupsOf(found).reduce((sum, { total }) => sum + total, 0);
    await write(context, text, found);
    if (count > 0) return exitCodes.done;
    if (!context.out.json) context.out.notice(`Nothing matches "${text}".`);
    return exitCodes.absent;
  },
});

const groupsOf = ({ devices, boundDevices, users, people, appVersions }: SearchResults): readonly Group<unknown>[] => [
  devices,
  boundDevices,
  appVersions,
  ...[users, people].filter(group => group !== null),
];

async function write(context: Context, text: string, found: SearchResults): Promise<void> {
  const { out } = context;
  if (out.json) return out.document({ text, ...found });
  if (out.quiet)
    return out.text(
      idsOf(found)
        .map(id => `${safe(id)}\n`)
        .join(''),
    );
  const word = shellWord(text);
  const { devices, boundDevices, users, people, appVersions } = found;
  const show = section(context);
  await show('Devices', devices, deviceColumns(), `devmgr list --keyword ${word}`);
  await show(`Devices bound to ${text}`, boundDevices, deviceColumns(), `devmgr list --user ${boundTo(found) ?? word}`);
  const others = ({ total }: Group<unknown>, list: string) =>
    total > paging.maxSize ? `devmgr ${list} list` : `devmgr search ${word} --limit ${total}`;
  if (users) await show('Users', users, userColumns, others(users, 'users'));
  if (people) await show('Persons', people, personColumns, `devmgr people list --keyword ${word}`);
  await show('Application versions', appVersions, appColumns, others(appVersions, 'apps'));
  if (users === null) out.notice('Users were not searched: only an ADMIN can list them.');
  if (people === null)
    out.notice('Persons were not searched: a VIEWER cannot list them, and servers of earlier versions have none.');
  if (users?.complete === false) out.notice(`Only the newest ${searchedRecords} users were searched.`);
  if (!appVersions.complete) out.notice(`Only the newest ${searchedRecords} application versions were searched.`);
}

/** The userId of the first device that is bound to a match; null if there is none. */
const boundTo = ({ boundDevices }: SearchResults): string | null => {
  const userId = boundDevices.list[0]?.userId;
  return userId ? shellWord(safe(userId)) : null;
};

function idsOf({ devices, boundDevices, users, people, appVersions }: SearchResults): readonly string[] {
  const found = [...devices.list, ...boundDevices.list].map(device => device.deviceId);
  return [
    ...new Set(found),
    ...(users?.list ?? []).map(user => user.id),
    ...(people?.list ?? []).map(person => person.personId),
    ...appVersions.list.map(app => app.versionId),
  ];
}

/** Writes a group under its title; an empty one is left out. `more` is the command that shows the others. */
function section({ out }: Context) {
  let isFirst = true;
  return async <Row>(title: string, { total, list }: Group<Row>, columns: readonly Column<Row>[], more: string) => {
    if (total === 0) return;
    await out.text(`${isFirst ? '' : '\n'}${out.paint('bold', safe(`${title} (${total})`))}\n`);
    isFirst = false;
    await out.table(columns, list);
    if (total > list.length) out.notice(`${count(total - list.length)} more: ${more}`);
  };
}

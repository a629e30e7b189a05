import type { DirectorySettings, DirectoryStep } from '../../../contract/directory.ts';
import { directoryBounds } from '../../../contract/limits.ts';
import { namesIn } from '../../../contract/names.ts';
import { directoryGroup } from '../../../fleet/directory-groups.ts';
import { count } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { failure, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields, givenTexts } from '../../framework/define.ts';
import { type FlagShapes, type FlagValues, fileFlag } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { type CardRow, present, type Result } from '../../framework/present.ts';
import { presentRows } from '../../framework/present-list.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import { textIn } from '../../settings/files.ts';
import type { Column } from '../../terminal/column.ts';
import type { Style } from '../../terminal/style.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { showFindings } from '../findings.ts';

/** The settings, to be shown. */
function resultOf(settings: DirectorySettings, title: string, next?: string): Result {
  const { url, name, base, filter, attributes, groups, bindDn, ca, everyMinutes, fullEveryMinutes, lastRun } = settings;
  const named = Object.entries(attributes).filter(([, attribute]) => typeof attribute === 'string');
  const rows: CardRow[] = [
    // A server of an earlier version has no name.
    ['name', safe(name ?? '') || null],
    ['address', safe(url ?? '')],
    ['base', safe(base ?? '')],
    ['filter', filter === null ? 'the usual class of the server' : safe(filter)],
    ['attributes', named.map(([use, attribute]) => safe(`${use} ${attribute}`)).join(', ') || 'the usual ones'],
    ['groups', groups.map(({ name, dn }) => safe(`${name}: ${dn}`)).join('; ') || 'none'],
    ['signs in as', bindDn === null ? 'anonymous' : safe(bindDn)],
    ['certificates', ca === null ? 'those that Node.js trusts' : 'those of the settings'],
    ['read', `every ${everyMinutes} min, all entries every ${fullEveryMinutes} min`],
    ['last run', lastRun === null ? 'none' : localTime(lastRun.at)],
    ['problem', lastRun?.problem ? safe(lastRun.problem) : null],
  ];
  return { data: settings, id: safe(url ?? 'off'), title, rows: settings.enabled ? rows : [], next };
}

/** Shows the settings: `GET /api/directory`. */
export async function showDirectory({ registry }: Context): Promise<Result> {
  const settings = await registry.call('showDirectory');
  return resultOf(settings, settings.enabled ? 'Persons are read from a directory' : 'No directory is set up');
}

/** Connects from the daemon, signs in, and reads the first page of entries: `POST /api/directory/test`. */
export async function testDirectory(context: Context): Promise<number> {
  const found = await context.registry.call('testDirectory');
  return showFindings(context, found, { title: 'The directory can be read', next: 'devmgr providers sync --dry-run' });
}

/** Ends the use of the directory: `PUT /api/directory`. Persons and their keys do not change. */
export async function removeDirectory({ registry }: Context): Promise<Result> {
  const settings = await registry.call('setDirectory', { body: { enabled: false } });
  return resultOf(settings, 'The registry no longer reads the directory');
}

const uses = namesIn(
  'userName name email id disabled groups',
) satisfies readonly (keyof DirectorySettings['attributes'])[];
const minutes = { min: 1, max: directoryBounds.minutes } as const;

const directoryFlags = {
  base: { value: 'DN', help: 'where to search for persons' },
  'ldap-filter': {
    value: 'FILTER',
    empty: true,
    field: 'filter',
    help: 'which entries are persons (default: the usual class of the server)',
  },
  attributes: { value: 'USE=ATTRIBUTE', many: true, help: 'attributes to read' },
  'group-dn': {
    value: 'DN',
    many: 'whole',
    empty: true,
    field: 'groups',
    help: 'group to read, with its members; can be repeated',
  },
  'bind-dn': { value: 'DN', empty: true, field: 'bindDn', help: 'DN with which the daemon signs in' },
  'bind-password-file': {
    ...fileFlag('read its password from the first line of a file; - is standard input'),
    field: 'bindPassword',
  },
  'ca-file': { ...fileFlag('certificates (PEM) to verify the server with'), empty: true, field: 'ca' },
  every: { value: 'MINUTES', field: 'everyMinutes', whole: minutes, help: 'minutes between two runs' },
  'full-every': {
    value: 'MINUTES',
    field: 'fullEveryMinutes',
    whole: minutes,
    help: 'minutes between two full runs, which read all entries and find missing persons',
  },
} as const satisfies FlagShapes;

/** Sets the directory up, or changes it: `PUT /api/directory`. */
async function setDirectory(
  context: Context,
  before: DirectorySettings,
  flags: FlagValues<typeof directoryFlags> & { readonly url: string | undefined; readonly name?: string | undefined },
): Promise<void> {
  const { bindPasswordFile, caFile, bindDn, attributes, groupDn } = flags;
  const body = definedFields({
    enabled: true,
    name: flags.name ?? before.name,
    url: flags.url ?? before.url,
    base: flags.base ?? before.base,
    filter: orNull(flags.ldapFilter ?? before.filter),
    attributes: attributesOf(before.attributes, attributes),
    groups: givenTexts(groupDn)?.map(groupOf) ?? before.groups,
    bindDn: orNull(bindDn ?? before.bindDn),
    bindPassword: await secretFrom(context, bindPasswordFile),
    ca: caFile === undefined ? before.ca : caFile === '' ? null : textIn(caFile, 'the certificates'),
    everyMinutes: flags.every ?? before.everyMinutes,
    fullEveryMinutes: flags.fullEvery ?? before.fullEveryMinutes,
  });
  const settings = await context.registry.call('setDirectory', { body });
  await present(context, resultOf(settings, 'Persons are read from the directory', 'devmgr providers test ldap'));
}

const help = `--attributes USE=ATTRIBUTE names the attribute for ${uses.join(', ')}. The usual attributes of OpenLDAP and Active Directory are the default.\n--group-dn DN reads a group and its members. The group has the same name here; NAME=DN gives it another name.\nThe registry stores the password encrypted. Next, check devmgr providers sync --dry-run: the daemon reads the directory for the first time --every minutes after this command.`;
const urlArg = { name: 'URL', help: 'address of the server, ldaps://HOST' } as const;

/** Adds the directory from which persons are read. */
export const ldapAdd = command({
  description: `The registry reads persons and groups from this LDAP directory. It has at most one.\n${help}`,
  args: [{ name: 'NAME', help: 'name of the provider in commands' }, urlArg],
  flags: directoryFlags,
  examples: {
    OpenLDAP:
      'providers add ldap company ldaps://ldap.example.com --base ou=people,dc=example,dc=com --bind-dn cn=devmgr,dc=example,dc=com --bind-password-file secret',
  },
  async run({ args: [name, url], flags }, context) {
    const before = await context.registry.call('showDirectory');
    if (before.enabled)
      throw failure(
        `persons are read from ${safe(before.url ?? '')} already`,
        'change it: devmgr providers update ldap',
      );
    await setDirectory(context, before, { ...flags, name, url });
  },
});

/** Changes the directory, or sets it up. */
export const ldapUpdate = command({
  description: `Settings that are not named do not change. An empty value removes one: --ca-file "".\n${help}`,
  args: [{ ...urlArg, optional: true }],
  flags: { ...directoryFlags, name: { value: 'NAME', help: 'name of the provider in commands' } },
  examples: {
    'user names that are e-mail addresses': 'providers update ldap --attributes userName=userPrincipalName',
    'members of a group': 'providers update ldap --group-dn "staff=cn=all staff,ou=groups,dc=example,dc=com"',
  },
  async run({ args: [url], flags }, context) {
    await setDirectory(context, await context.registry.call('showDirectory'), { ...flags, url });
  },
});

/** An empty value removes a setting. */
const orNull = (text: string | null): string | null => (text === '' ? null : text);

function attributesOf(
  before: DirectorySettings['attributes'],
  pairs: readonly string[],
): DirectorySettings['attributes'] {
  const named = { ...before };
  for (const pair of pairs) {
    const [use = '', attribute] = pair.split('=', 2).map(text => text.trim());
    const found = uses.find(name => name.toLowerCase() === use.toLowerCase());
    if (!found || attribute === undefined)
      throw usage(`--attributes "${pair}" is not USE=ATTRIBUTE`, `USE is one of ${uses.join(', ')}`);
    named[found] = orNull(attribute);
  }
  return named;
}

function groupOf(text: string): { name: string; dn: string } {
  const group = directoryGroup(text);
  if (!group) throw usage(`--group-dn "${text}" is not the DN of a group`, 'for example cn=staff,dc=example,dc=com');
  return group;
}

const stepFields = ['step', 'personId', 'userName', 'detail'] as const satisfies readonly (keyof DirectoryStep)[];
const stepColors: Readonly<Partial<Record<DirectoryStep['step'], Style>>> = {
  new: 'green',
  left: 'red',
  held: 'red',
  skipped: 'yellow',
};
const stepColumns: Column<DirectoryStep>[] = [
  { title: 'WHAT', value: ({ step }) => step, style: ({ step }) => stepColors[step] ?? null },
  { title: 'PERSON', value: ({ personId }) => personId },
  { title: 'USER NAME', value: ({ userName }) => userName, shorten: 'end' },
  { title: 'DETAIL', value: ({ detail }) => detail, shorten: 'end' },
];

/** Compares persons with the directory: `POST /api/directory/sync`. Exit code 1 if there is a problem. */
export const directorySync = command({
  description: `Reads all entries now. Persons who are disabled or missing are recorded as leavers, and their keys are locked; if there are too many at once, they are held (devmgr people leave held). Nothing is changed if an error occurs, or if no entries are found, fewer than half of the known persons, or new user names for more than half. At most ${directoryBounds.shown} lines are shown.`,
  flags: {
    'dry-run': { help: 'show what would change, and change nothing' },
    'accept-missing': { help: 'continue even if more than half of the persons are missing or renamed' },
    ...listFlags(stepFields),
  },
  examples: {
    'what would change': 'providers sync --dry-run',
    'now, instead of at the next run': 'providers sync',
    'who would leave': 'providers sync --dry-run --jq \'.list[] | select(.step == "left") | .userName\'',
  },
  async run({ flags }, context) {
    const { registry, out } = context;
    const body = { dryRun: flags.dryRun, acceptMissing: flags.acceptMissing };
    const report = await registry.call('syncDirectory', { body });
    const { counts, problem, list } = report;
    if (out.json) await out.document(report);
    else if (list.length > 0)
      await presentRows(context, list, { fields: stepFields, columns: stepColumns, id: 'personId' });
    const { read, ...steps } = counts;
    const found = Object.entries(steps).filter(([, number]) => number > 0);
    const words = found.map(([step, number]) => `${count(number)} ${safe(step)}`).join(', ') || 'nothing differs';
    out.notice(`${count(read)} entries: ${words}${report.dryRun ? ' (nothing was changed)' : ''}`);
    if (problem === null) return exitCodes.done;
    out.notice(`Problem: ${safe(problem)}`);
    return exitCodes.failure;
  },
});

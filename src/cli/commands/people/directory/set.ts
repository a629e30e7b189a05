import type { DirectorySettings } from '../../../../contract/directory.ts';
import { directoryBounds } from '../../../../contract/limits.ts';
import { namesIn } from '../../../../contract/names.ts';
import { usage } from '../../../fault.ts';
import { command, definedFields, givenTexts } from '../../../framework/define.ts';
import { fileFlag } from '../../../framework/flags.ts';
import { textIn } from '../../../settings/files.ts';
import { secretFrom } from '../../secret-file.ts';
import { showDirectory } from './directory.ts';

const uses = namesIn(
  'userName name email id disabled groups',
) satisfies readonly (keyof DirectorySettings['attributes'])[];
const minutes = { min: 1, max: directoryBounds.minutes } as const;

/** Sets the directory up, or changes it: `PUT /api/directory`. */
export const directorySet = command({
  description: `Settings that are not named do not change. An empty value removes one: --ca-file "".\n--attributes USE=ATTRIBUTE names the attribute for ${uses.join(', ')}. The usual attributes of OpenLDAP and Active Directory are the default.\n--group-dn DN reads a group and its members. The group has the same name here; NAME=DN gives it another name.\nThe registry stores the password encrypted. Check devmgr directory sync --dry-run next: --every minutes later, the daemon reads the directory for the first time.`,
  args: [{ name: 'URL', help: 'address of the server, ldaps://HOST', optional: true }],
  flags: {
    base: { value: 'DN', help: 'where to search for persons' },
    'ldap-filter': {
      value: 'FILTER',
      field: 'filter',
      help: 'which entries are persons (default: the usual class of the server)',
    },
    attributes: { value: 'USE=ATTRIBUTE', many: true, help: 'attributes to read' },
    'group-dn': {
      value: 'DN',
      many: 'whole',
      field: 'groups',
      help: 'group to read, with its members; can be repeated',
    },
    'bind-dn': { value: 'DN', field: 'bindDn', help: 'DN with which the daemon signs in' },
    'bind-password-file': {
      ...fileFlag('read its password from the first line of a file; - is standard input'),
      field: 'bindPassword',
    },
    'ca-file': { ...fileFlag('certificates (PEM) to verify the server with'), field: 'ca' },
    every: { value: 'MINUTES', field: 'everyMinutes', whole: minutes, help: 'minutes between two runs' },
    'full-every': {
      value: 'MINUTES',
      field: 'fullEveryMinutes',
      whole: minutes,
      help: 'minutes between two full runs, which read all entries and find missing persons',
    },
  },
  examples: [
    {
      does: 'OpenLDAP',
      line: 'directory set ldaps://ldap.example.com --base ou=people,dc=example,dc=com --bind-dn cn=devmgr,dc=example,dc=com --bind-password-file secret',
    },
    { does: 'user names that are e-mail addresses', line: 'directory set --attributes userName=userPrincipalName' },
    { does: 'members of a group', line: 'directory set --group-dn "staff=cn=all staff,ou=groups,dc=example,dc=com"' },
  ],
  async run({ args, flags }, context) {
    const before = await context.registry.call('showDirectory');
    const { bindPasswordFile, caFile, bindDn, attributes, groupDn } = flags;
    const body = definedFields({
      enabled: true,
      url: args[0] ?? before.url,
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
    await showDirectory(context, settings, 'Persons are read from the directory', 'devmgr directory test');
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

/** `DN`, or `NAME=DN`: in a DN the first comma is before the second `=`. */
function groupOf(text: string): { name: string; dn: string } {
  const at = text.indexOf('=');
  const rest = text.slice(at + 1);
  const [value = ''] = rest.split(',', 1);
  if (at < 1) throw usage(`--group-dn "${text}" is not the DN of a group`, 'for example cn=staff,dc=example,dc=com');
  if (!value.includes('=')) return { name: value.trim(), dn: text };
  return { name: text.slice(0, at).trim(), dn: rest };
}

/** Persons from an LDAP directory: OpenLDAP, Active Directory or another one. */
import { type Static, Type } from 'typebox';
import { additions, administration, adminPerson } from './define.ts';
import { boolean, count, findings, line, nullable, oneOf, prose, secret, shown, timestamp } from './fields.ts';
import { personIds } from './ids.ts';
import { directoryBounds as bounds } from './limits.ts';
import { directoryRuns, directorySteps } from './person-values.ts';

const attribute = (description: string, example: string) =>
  nullable(
    line(bounds.attribute, {
      description,
      examples: [example],
      pattern: '^[A-Za-z][A-Za-z0-9-]*$',
      shape: 'the name of an attribute: letters, digits and -',
    }),
  );

/** Attributes of an entry. Null: the usual one of the server. */
const attributes = Type.Object({
  userName: attribute('user name; uid, in Active Directory sAMAccountName', 'uid'),
  name: attribute('full name; displayName', 'displayName'),
  email: attribute('e-mail address; mail', 'mail'),
  id: attribute('id that never changes; entryUUID, in Active Directory objectGUID', 'entryUUID'),
  disabled: attribute(
    'a value other than FALSE, 0 and NO means that the person is disabled; of userAccountControl, bit 2. Null: none, in Active Directory userAccountControl',
    'pwdAccountLockedTime',
  ),
  groups: attribute('names (DN) of groups; memberOf', 'memberOf'),
});
/** Names of attributes by what they are used for. */
export type DirectoryAttributes = Static<typeof attributes>;

const group = Type.Object({
  name: line(bounds.groupName, { description: 'name of the group in the registry', examples: ['staff'] }),
  dn: line(bounds.text, { description: 'name (DN) in the directory', examples: ['cn=staff,dc=example,dc=com'] }),
});

const minutes = (description: string) => Type.Integer({ minimum: 1, maximum: bounds.minutes, description });

const counts = Type.Object({
  read: count('entries that were read'),
  new: count('persons who are new'),
  changed: count('persons with other details'),
  left: count('persons who left'),
  back: count('persons who are back'),
  held: count('leavers whose devices are held until a release'),
  skipped: count('entries that cannot be persons'),
});
/** Counts of a run. */
export type DirectoryCounts = Static<typeof counts>;

const lastRun = Type.Object({
  at: timestamp('when it ended'),
  kind: oneOf(directoryRuns, { description: 'CHANGES: only entries that changed since the run before' }),
  problem: nullable(shown('why nothing was changed; null if all went well')),
  counts,
});

/** How the registry uses the directory: what a request sets, and a response shows. */
const chosen = {
  name: nullable(
    line(bounds.groupName, {
      description: 'name of the directory; null: the host of its address',
      examples: ['company'],
    }),
  ),
  url: nullable(
    line(bounds.text, {
      description: 'address of the server: ldaps://HOST or ldaps://HOST:PORT',
      examples: ['ldaps://ldap.example.com'],
    }),
  ),
  base: nullable(
    line(bounds.text, {
      description: 'name (DN) under which persons are searched',
      examples: ['ou=people,dc=example,dc=com'],
    }),
  ),
  filter: nullable(
    line(bounds.text, {
      description: 'which entries are persons (RFC 4515); absent or null: those of the usual class',
      examples: ['(objectClass=inetOrgPerson)'],
    }),
  ),
  groups: Type.Array(group, { minItems: 0, maxItems: bounds.groups }),
  bindDn: nullable(line(bounds.text, { description: 'name with which the daemon signs in; null for none' })),
  ca: nullable(
    prose(bounds.ca, {
      description: 'certificates (PEM) to verify the server with, and no others; null for those that Node.js trusts',
    }),
  ),
  everyMinutes: minutes('minutes between two runs; 15 if absent'),
  fullEveryMinutes: minutes('minutes between two runs that read all entries; 60 if absent'),
};

const settings = Type.Object({ enabled: Type.Boolean(), ...chosen, attributes, lastRun: nullable(lastRun) });
/** How the registry uses the directory, without the password. */
export type DirectorySettings = Static<typeof settings>;

const step = Type.Object({
  step: oneOf(directorySteps),
  personId: nullable(Type.String({ pattern: personIds.pattern, examples: ['PER-1'] })),
  userName: nullable(shown('user name in the directory, or of a person who is no longer in it', 'ada.lovelace')),
  detail: nullable(shown('which fields differ, or why the entry is skipped')),
});
/** Change of a person by a run, or in its preview. */
export type DirectoryStep = Static<typeof step>;

const report = Type.Object({
  dryRun: Type.Boolean(),
  problem: nullable(shown('why no leavers are recorded, or nothing is changed; null if all is well')),
  counts,
  list: Type.Array(step, { description: `at most ${bounds.shown} of them` }),
});
/** Result of a run, or its preview. */
export type DirectoryReport = Static<typeof report>;

/** Operations on the directory. */
export const directoryOperations = additions('Directory', {
  /** The password is in no response. */
  showDirectory: {
    summary: 'Show the settings of the directory, and its last run',
    ...adminPerson,
    data: settings,
  },

  /** Replaces all settings. One daemon of the registry reads the directory from then on. */
  setDirectory: {
    summary: 'Set up, change or remove the directory',
    description:
      'With `enabled: false` the settings are removed; the persons stay. The password is stored encrypted; without `bindPassword`, the stored one for the same address and name is kept. ldap:// is allowed only for the machine of the daemon.',
    ...administration,
    body: Type.Partial(
      Type.Object({
        enabled: boolean('whether persons are read from it; true if absent'),
        ...chosen,
        attributes: Type.Partial(attributes),
        bindPassword: nullable(secret({ min: 1, max: bounds.text }, { description: 'the password of this name' })),
      }),
    ),
    data: settings,
    example: {
      body: {
        url: 'ldaps://ldap.example.com',
        base: 'ou=people,dc=example,dc=com',
        bindDn: 'cn=devmgr,dc=example,dc=com',
        bindPassword: 'of a reader',
      },
    },
  },

  /** Nothing is changed. */
  testDirectory: {
    summary: 'Check the directory: connection, sign-in, entries and attributes',
    ...adminPerson,
    limit: 'query',
    data: Type.Object(findings),
  },

  /** Reads all entries. A run that fails while it reads changes nothing. */
  syncDirectory: {
    summary: 'Compare persons with the directory now',
    description:
      'Persons who are disabled or no longer found are recorded as leavers, as by `POST /api/people/{personId}/leave`; too many at once are held. If no entry is found, fewer than half of the known persons, or new user names for more than half of them, nothing is changed; `acceptMissing` overrides the last two.',
    ...adminPerson,
    body: Type.Object({
      dryRun: Type.Optional(boolean('true: only show what would change')),
      acceptMissing: Type.Optional(
        boolean('true: even if more than half of the persons are missing or have new user names'),
      ),
    }),
    data: report,
    example: { body: { dryRun: true } },
  },
});

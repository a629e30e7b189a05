/** Persons: who devices are bound to. `userId` of a device means the person with that userName. */
import { type Static, Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import { boolean, count, line, maybe, nullable, oneOf, shown, timestamp, token } from './fields.ts';
import { credentialIds, deviceIds, personIds, tokenIds, userIds, webhookIds } from './ids.ts';
import { personBounds, textLengths } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { personSources } from './person-values.ts';
import { textShapes } from './values.ts';

const readers = ['ADMIN', 'DEALER'] as const;
/** Id of a person, in a response. */
export const personId = Type.String({ pattern: personIds.pattern, examples: ['PER-1'] });
/** Common part of the operations on one person. */
export const ofOne = {
  params: Type.Object({ personId: token({ description: 'id of the person', examples: ['PER-1'] }) }),
  errors: [404],
  example: { params: { personId: 'PER-1' } },
} as const;
const ids = ({ pattern }: { readonly pattern: string }, example: string, description: string) =>
  Type.Array(Type.String({ pattern }), { description, examples: [[example]] });
const deviceList = (description: string) =>
  Type.Array(Type.String({ pattern: deviceIds.pattern }), { description, examples: [['DEV-1']] });

/** Unique among all persons, upper and lower case being equal; a duplicate is refused with 1001. */
export const personUserName = line(textLengths.userId, {
  description: 'name that devices are bound to (userId); unique, case-insensitive',
  examples: ['ada.lovelace'],
});
/** The full name. */
export const personName = line(personBounds.name, { description: 'full name', examples: ['Ada Lovelace'] });
/** Not unique and not verified. */
export const personEmail = line(textLengths.email, {
  ...textShapes.email,
  description: 'e-mail address',
  examples: ['ada@example.com'],
});

/** A person. */
export const person = Type.Object({
  personId,
  userName: shown('name that devices are bound to', 'ada.lovelace'),
  name: nullable(shown('full name', 'Ada Lovelace')),
  email: nullable(shown('e-mail address; null for the role DEALER', 'ada@example.com')),
  externalId: nullable(shown('id at the identity provider or in the directory')),
  active: boolean('false once the person has left'),
  groups: Type.Array(Type.String(), { description: 'names of the groups of the person' }),
  source: oneOf(personSources),
  leftAt: nullable(timestamp('when the person left')),
  devices: count('devices that are bound to the person, in any state'),
});
/** A person. */
export type Person = Static<typeof person>;

const heldPerson = Type.Object({
  ...person.properties,
  heldAt: timestamp('when the hold began'),
  newUserName: nullable(shown('user name that a release gives to the person; null if the person has left')),
  deviceIds: deviceList('ACTIVE devices of the person: a release locks them, or shows the new user name'),
});
/** The figures of the standing check. */
export const peopleCheck = {
  devices: count('ACTIVE devices of persons who have left'),
  accounts: count('enabled accounts of persons who have left'),
  tokens: count('service tokens of persons who have left that are accepted'),
  credentials: count('credentials of devices of persons who have left that providers have not removed'),
  unmatched: count('ACTIVE devices with a userId that is not that of a person; 0 in a registry without persons'),
  unreported: count(
    'active persons whose source can no longer report that they leave: the directory is off, or no service token with `may: scim` is accepted',
  ),
  drift: count(
    'active persons who are gone or disabled at their identity provider, by the last comparison with it, or in the directory, whose last full run did not end them',
  ),
  unerased: count(
    'persons whom the policy should have erased a day ago, but for whom a provider has not removed a credential',
  ),
  cases: count('open cases of persons who have left'),
  shipments: count('ACTIVE devices that were sent to their persons, whose arrival is overdue by the policy'),
};
/** A person whose devices wait for a release. */
export type HeldPerson = Static<typeof heldPerson>;

/** Operations on persons. */
export const peopleOperations = additions('Persons', {
  /** Persons who have left are listed too. */
  listPeople: {
    summary: 'List persons',
    description:
      'keyword is a substring of user name, name, e-mail address, external id or id, case-insensitive; the role DEALER cannot search e-mail addresses.',
    access: readers,
    query: Type.Object({
      ...pageQuery(),
      keyword: Type.Optional(line(textLengths.email, { description: 'part of a name or id', examples: ['ada'] })),
      userName: Type.Optional(
        Type.Array(personUserName, {
          minItems: 1,
          maxItems: personBounds.named,
          description: 'whole user name, case-insensitive; can be repeated, then one must match',
          examples: ['ada.lovelace'],
        }),
      ),
      source: Type.Optional(oneOf(personSources, { description: 'what manages the person' })),
      active: Type.Optional(boolean('false: persons who have left')),
      group: Type.Optional(line(personBounds.name, { description: 'name of a group', examples: ['New hires'] })),
      activeDevices: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1000,
          description: 'only persons with exactly this many ACTIVE devices',
          examples: [0],
        }),
      ),
    }),
    data: paged(person),
  },

  /** A userName that already exists is refused with 1001. */
  createPerson: {
    summary: 'Add a person',
    ...adminOnly,
    body: Type.Object({
      userName: personUserName,
      name: maybe(personName),
      email: maybe(personEmail),
    }),
    data: person,
    example: { body: { userName: 'ada.lovelace', name: 'Ada Lovelace', email: 'ada@example.com' } },
  },

  /** Leavers whose devices the brake has not locked. */
  listHeldPeople: {
    summary: 'List leavers and new user names that are held',
    description:
      'If more than 5 % of all ACTIVE devices, and at least 10, would be locked within 10 minutes, they stay ACTIVE until they are released. The same holds for accounts of leavers and for new user names (`newUserName`).',
    ...adminOnly,
    data: Type.Object({ list: Type.Array(heldPerson) }),
  },

  /** Idempotent: a person who is not held is left out of `released`. All persons are released, or none. */
  releasePeople: {
    summary: 'Lock the devices of held leavers and give held user names',
    ...adminOnly,
    stepUp: true,
    body: Type.Object({
      personIds: Type.Array(token({ examples: ['PER-1'] }), { minItems: 1, maxItems: personBounds.released }),
    }),
    data: Type.Object({
      released: Type.Array(personId, { description: 'persons who were held' }),
      locked: deviceList('devices that were locked, or retired if the policy requires it'),
    }),
    errors: [404],
    example: { body: { personIds: ['PER-1'] } },
  },

  /** Counts of devices and tokens, whose lists have the rest, and ids of webhooks. */
  countLeftovers: {
    summary: 'Count what people who have left still have',
    ...adminOnly,
    data: Type.Object({
      activeDevices: count('ACTIVE devices of persons who have left: held, locked later, or unlocked by an ADMIN'),
      tokens: count(
        'service tokens, neither revoked nor expired, that are refused because their owner has left or is disabled',
      ),
      webhooks: ids(
        webhookIds,
        'WHK-1',
        'webhooks that are not disabled, although the account that made them, or that owns the token that made them, has left or is disabled',
      ),
    }),
  },

  /** All figures are 0 if nothing is wrong. */
  checkPeople: {
    summary: 'Check what people who have left still have',
    description:
      'One daemon makes this check every hour. If a figure has changed, the event PEOPLE_CHECKED has all of them. The metrics have them too.',
    ...adminOnly,
    data: Type.Object(peopleCheck),
  },

  /** Access that remains in the name of a person. Empty lists if no account has the user name. */
  getPersonAccess: {
    summary: 'List the accounts of a person and what they made',
    description:
      'Accounts with the user name of the person; the service tokens that end with them and are neither revoked nor expired; the webhooks that the accounts or these tokens have created, which continue when the person leaves.',
    ...adminOnly,
    ...ofOne,
    data: Type.Object({
      accounts: ids(userIds, 'USR-2', 'accounts, disabled ones included'),
      tokens: ids(tokenIds, 'TOK-1', 'service tokens'),
      webhooks: ids(webhookIds, 'WHK-1', 'webhooks, disabled ones included'),
    }),
  },

  /** For the role DEALER without the e-mail address. */
  getPerson: {
    summary: 'Show a person',
    access: readers,
    ...ofOne,
    data: person,
  },

  /** Idempotent: a further call locks what has become ACTIVE in between. */
  personLeaves: {
    summary: 'Record that a person leaves',
    description:
      'Locks every ACTIVE device of the person and disables the account with that user name, in one commit. Service tokens of the account are refused. The last enabled ADMIN stays enabled. A policy can retire the devices instead, or lock them later (`dueAt`). More than 5 % of all ACTIVE devices, and at least 10, within 10 minutes are held: see the list of held leavers.',
    ...adminOnly,
    ...ofOne,
    body: Type.Object({
      reason: line(textLengths.reason, { description: 'reason of the locks', examples: ['has left'] }),
    }),
    data: Type.Object({
      locked: deviceList('devices that were locked, or retired if the policy requires it'),
      tokens: ids(tokenIds, 'TOK-1', 'service tokens of the accounts, which are refused from now on'),
      accounts: ids(userIds, 'USR-2', 'accounts that were disabled'),
      credentials: ids(credentialIds, 'CRD-1', 'credentials of these devices, which the providers are asked to remove'),
      held: deviceList('devices that stay ACTIVE until the person is released'),
      dueAt: nullable(timestamp('when the devices will be locked, if the policy has a delay')),
    }),
    example: { params: { personId: 'PER-1' }, body: { reason: 'has left' } },
  },

  /** Idempotent. Nothing is unlocked, and the account stays disabled. */
  personReturns: {
    summary: 'Record that a person is back',
    description:
      'The person is active again, and a delay or hold ends. Devices stay locked: unlock those that the person still has. The account with that user name stays disabled until it is enabled. A person whom an identity provider or a directory has removed becomes a local one.',
    ...adminOnly,
    ...ofOne,
    data: Type.Object({
      lockedDevices: deviceList('devices that were locked because the person had left'),
    }),
  },
});

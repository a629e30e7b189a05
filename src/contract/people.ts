/** Persons: who devices are bound to. `userId` of a device means the person with that userName. */
import { type Static, Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import { count, EACH, line, nullable, oneOf, shown, timestamp, token } from './fields.ts';
import { credentialIds, deviceIds, personIds, tokenIds, userIds, webhookIds } from './ids.ts';
import { bodyBounds, personBounds, provisioningLog, refusedBounds, sizes, textLengths } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import {
  caseKinds,
  caseStates,
  importOutcomes,
  personSources,
  provisioningOutcomes,
  provisioningSources,
  textShapes,
} from './values.ts';

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
  active: Type.Boolean({ description: 'false once the person has left' }),
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
const refusedRequest = Type.Object({
  at: timestamp('when it was refused last'),
  source: oneOf(provisioningSources),
  userName: nullable(shown('user name of the person; null if the request names none', 'ada.lovelace')),
  field: nullable(shown('value that was left out; null if the whole request was refused', 'email')),
  reason: shown('why', 'email must be an e-mail address'),
});
/** What an identity provider or the directory sent and the registry could not store. */
export type RefusedRequestItem = Static<typeof refusedRequest>;

/** Names in a match. */
export const matchItem = {
  deviceId: token({ description: 'device id', examples: ['DEV-1'] }),
  personId: token({ description: 'id of the person', examples: ['PER-1'] }),
};
/** A person in an import. */
export const importItem = {
  userName: personUserName,
  name: Type.Optional(nullable(personName)),
  email: Type.Optional(nullable(personEmail)),
  left: Type.Optional(
    Type.Boolean({ description: 'true: the person leaves. A person whom an import does not name never leaves' }),
  ),
};
const importChange = Type.Object({
  field: oneOf(['name', 'email', 'source'] as const),
  before: nullable(shown('value in the registry', 'Ada Lovelace')),
  after: nullable(shown('value of the item', 'Ada King')),
});
const importResult = Type.Object({
  userName: nullable(shown('user name as it was sent', 'ada.lovelace')),
  personId: nullable(shown('id of the person; null for one who is not in the registry', 'PER-1')),
  status: oneOf(['success', 'failed'] as const),
  code: Type.Integer({ description: '200, or the code of a failed item' }),
  message: shown('what happened to the item'),
  outcome: nullable(
    oneOf(importOutcomes, {
      description:
        'what the item does to the person; held, due: the person leaves, and the ACTIVE devices wait for a release or a delay. Null for a failed item',
    }),
  ),
  changes: Type.Array(importChange, { description: 'fields that change' }),
  devices: count('ACTIVE devices of the person that are locked or wait, if the person leaves'),
});
/** What an import did to a person, or would do. */
export type ImportResult = Static<typeof importResult>;

const matchCandidate = Type.Object({
  personId,
  userName: shown('user name of the person', 'ada.lovelace'),
  why: oneOf(['case', 'accents', 'email', 'name'] as const, {
    description:
      'what is equal: the name itself (several persons have had it), the name without accents, the e-mail address, or the full name',
  }),
});
/** A person whom a device may belong to. */
export type MatchCandidate = Static<typeof matchCandidate>;
const unmatchedDevice = Type.Object({
  deviceId: Type.String({ pattern: deviceIds.pattern, examples: ['DEV-1'] }),
  userId: shown('name that the device is bound to', 'Ada Lovelace'),
  candidates: Type.Array(matchCandidate, { description: 'whom it may belong to, the nearest first' }),
});
/** A device that is bound to a name without a person. */
export type UnmatchedDevice = Static<typeof unmatchedDevice>;

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
  cases: count('open cases of persons who have left'),
};
const caseItem = Type.Object({
  kind: oneOf(caseKinds),
  id: shown('id of the item; of a session that of its account, of a PIN that of its device', 'DEV-1'),
  state: oneOf(caseStates),
  reason: nullable(shown('why it is in this state; of a kept item the reason of the ADMIN', 'LOCKED')),
});
const caseTimes = {
  opened: timestamp('when the person left'),
  closed: nullable(timestamp('when an ADMIN closed the case, or the person came back; null: open')),
};
const leaverCase = Type.Object({ ...caseTimes, items: Type.Array(caseItem) });
/** The case of a person who has left. */
export type LeaverCase = Static<typeof leaverCase>;

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
      source: Type.Optional(oneOf(personSources)),
      active: Type.Optional(Type.Boolean({ description: 'false: persons who have left' })),
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
      name: Type.Optional(nullable(personName)),
      email: Type.Optional(nullable(personEmail)),
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

  /** Values that a SCIM request or a run of the directory has left out, and requests that were refused. */
  listRefusedRequests: {
    summary: 'List what identity provider and directory could not store',
    description: `The newest ${refusedBounds.kept} of each source, for ${refusedBounds.days} days. A repeated request is listed once, with its last time.`,
    ...adminOnly,
    query: Type.Object({ ...pageQuery(), source: Type.Optional(oneOf(provisioningSources)) }),
    data: paged(refusedRequest),
  },

  /** Fields are named, values are not: the journal does not have them. */
  listProvisioning: {
    summary: 'List what the sources of persons have sent',
    description: `The last ${provisioningLog.entries} changes of persons, or of one person, by an identity provider, the directory, an import or an ADMIN, with the names of the fields, and what was refused with the reason (see the list of refused requests).`,
    ...adminOnly,
    query: Type.Object({
      ...pageQuery(),
      source: Type.Optional(oneOf(personSources)),
      personId: Type.Optional(token({ description: 'id of a person', examples: ['PER-1'] })),
    }),
    data: paged(
      Type.Object({
        at: timestamp('when'),
        source: oneOf(personSources, { description: 'where the person is from; of a refusal, who sent it' }),
        actor: nullable(
          shown('user name, or token:NAME of a service token; null: a daemon, or not known', 'token:entra'),
        ),
        personId: nullable(personId),
        userName: nullable(shown('user name of the person', 'ada.lovelace')),
        outcome: oneOf(provisioningOutcomes),
        fields: Type.Array(Type.String(), {
          description: 'fields that were changed, or left out of a refused request',
        }),
        reason: nullable(shown('why it was refused', 'email must be an e-mail address')),
        requestId: nullable(shown('id of the request, which the log of the daemon has too')),
      }),
    ),
  },

  /** Idempotent: what a person has already is not changed. */
  importPeople: {
    summary: 'Add and update persons of a list',
    description:
      'For persons whom no identity provider and no directory sends: they get the source `import`. An absent name or address keeps the one before, and a person who is not in the list is not changed. The item of a person with another source fails if it would change something. With `adopt`, persons who were added here become imported ones. `left` has the effect of leaving, with the same brake. Of two equal user names the first one counts. Returns 200 even if items fail; results are in the order of the items, and the accepted ones are committed together.',
    ...adminOnly,
    bodyLimit: sizes.batchBody,
    bodyValues: bodyBounds.manyValues,
    batchOf: 'people',
    body: Type.Object({
      people: Type.Unsafe<readonly unknown[]>({
        ...Type.Array(Type.Object(importItem, { additionalProperties: true }), {
          minItems: 1,
          maxItems: sizes.batchUpdateItems,
        }),
        [EACH]: true,
      }),
      adopt: Type.Optional(
        Type.Boolean({ description: 'persons of the source `local` become imported ones; false if absent' }),
      ),
      dryRun: Type.Optional(
        Type.Boolean({ description: 'the results are those of an import, but nothing is changed; false if absent' }),
      ),
    }),
    data: Type.Object({
      total: count('number of items'),
      success: count('number of items that were accepted'),
      failed: count('number of failed items'),
      results: Type.Array(importResult),
    }),
    example: { body: { people: [{ userName: 'ada.lovelace', name: 'Ada Lovelace', email: 'ada@example.com' }] } },
  },

  /** In the order of the devices. */
  listUnmatched: {
    summary: 'List devices that are bound to a name without a person',
    description: 'A device that is bound to the user name of a person belongs to that person and is not listed.',
    ...adminOnly,
    query: Type.Object(pageQuery()),
    data: paged(unmatchedDevice),
  },

  /** A device that belongs to the person already is not changed. */
  matchPeople: {
    summary: 'Give devices to persons',
    description:
      'The device then shows the user name of the person. An ACTIVE device of a person who has left is locked. Returns 200 even if items fail; results are in the order of the items, and the accepted ones are committed together.',
    ...adminOnly,
    bodyValues: bodyBounds.manyValues,
    batchOf: 'matches',
    body: Type.Object({
      matches: Type.Unsafe<readonly unknown[]>({
        ...Type.Array(Type.Object(matchItem, { additionalProperties: true }), {
          minItems: 1,
          maxItems: sizes.batchUpdateItems,
        }),
        [EACH]: true,
      }),
    }),
    data: Type.Object({
      total: count('number of items'),
      success: count('number of devices that belong to the person, counted by item'),
      failed: count('number of failed items'),
      results: Type.Array(
        Type.Object({
          deviceId: nullable(shown('device id as it was sent', 'DEV-1')),
          personId: nullable(shown('id of the person as it was sent', 'PER-1')),
          status: oneOf(['success', 'failed'] as const),
          code: Type.Integer({ description: '200, or the code of a failed item' }),
          message: shown('what happened to the item'),
        }),
      ),
    }),
    example: { body: { matches: [{ deviceId: 'DEV-1', personId: 'PER-1' }] } },
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

  /** What can still be used in the name of a person. Empty lists if no account has the user name. */
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

  /** The oldest first. Of a person who left twice, the last case. */
  listCases: {
    summary: 'List cases of persons who have left',
    description:
      'A case opens when a person leaves. `next` is the first item that is open; null: nothing is open, and the case can be closed.',
    ...adminOnly,
    query: Type.Object({
      ...pageQuery(),
      open: Type.Optional(Type.Boolean({ description: 'true: open cases; false: closed ones; true if absent' })),
    }),
    data: paged(
      Type.Object({
        personId,
        userName: shown('user name of the person', 'ada.lovelace'),
        name: nullable(shown('full name', 'Ada Lovelace')),
        ...caseTimes,
        open: count('open items'),
        kept: count('items that an ADMIN keeps'),
        next: nullable(caseItem),
      }),
    ),
  },

  /** Of a person who left twice, the last case. */
  showCase: {
    summary: 'Show the case of a person who has left',
    description:
      'What the person has or had, as the registry knows it now: an item is closed as soon as its device, account or credential is ended. Open items come first. A closed case has the items of its closing; one that ended because the person is back has none. 404: the person has not left.',
    ...adminOnly,
    ...ofOne,
    data: leaverCase,
  },

  /** Of one that is kept already, the reason is replaced. A closed case is not changed. */
  keepCaseItem: {
    summary: 'Keep an item of a case',
    // A case can have more items than a minute has modifications.
    limit: 'query',
    description:
      'The item stays, for this reason, and the case can be closed in spite of it. An item that is closed or unknown is 1001.',
    ...adminOnly,
    ...ofOne,
    body: Type.Object({
      kind: oneOf(caseKinds),
      id: token({ description: 'id of the item', examples: ['DEV-1'] }),
      reason: line(textLengths.reason, { description: 'why it stays', examples: ['shared key of the workshop'] }),
    }),
    data: leaverCase,
    example: {
      params: { personId: 'PER-1' },
      body: { kind: 'device', id: 'DEV-1', reason: 'shared key of the workshop' },
    },
  },

  /** Idempotent. */
  closeCase: {
    summary: 'Close the case of a person who has left',
    limit: 'query',
    description:
      'Refused with 1001 while an item is open. The journal has the digest of the case, with its items and the reasons of those that are kept.',
    ...adminOnly,
    ...ofOne,
    data: leaverCase,
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

/** Persons as users of SCIM 2.0. */
import { Type } from 'typebox';
import { line } from '../../../src/contract/fields.ts';
import { deviceIds, groupIds, personIds } from '../../../src/contract/ids.ts';
import { isObject } from '../../../src/contract/json-object.ts';
import { personBounds } from '../../../src/contract/limits.ts';
import { personEmail, personName, personUserName } from '../../../src/contract/people.ts';
import { compileReader } from '../../../src/contract/validate.ts';
import type { Groups } from '../../domain/people-policy.ts';
import type { PersonDetails, PersonNames, PersonRecord } from '../../domain/person.ts';
import { iso } from '../present.ts';
import { badRequest } from './error.ts';
import { type Attributes, requiredObject } from './matching.ts';
import { mostOperations, patchValues, readPatch, textIn, valuesIn } from './patch.ts';

/** The names of schemas. */
export const schemaIds = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  /** What devmgr adds to a user. */
  devices: 'urn:ietf:params:scim:schemas:extension:devmgr:2.0:User',
} as const;

/** What a request sets of a person. */
export interface ScimUser extends Omit<PersonDetails, 'groups' | 'source'> {
  /** Null if the request does not set it. */
  readonly active: boolean | null;
}

/** The attributes that are stored, with names in lower case. */
interface UserDraft {
  username: unknown;
  externalid: unknown;
  displayname: unknown;
  active: unknown;
  name: Attributes;
  emails: readonly Attributes[];
}

const readTexts = compileReader(
  Type.Object({
    userName: personUserName,
    externalId: Type.Optional(Type.Union([line(personBounds.externalId), Type.Null()])),
    displayName: Type.Optional(Type.Union([personName, Type.Null()])),
    formatted: Type.Optional(Type.Union([personName, Type.Null()])),
    givenName: Type.Optional(Type.Union([personName, Type.Null()])),
    familyName: Type.Optional(Type.Union([personName, Type.Null()])),
    email: Type.Optional(Type.Union([personEmail, Type.Null()])),
  }),
);

/** An empty text means that there is none. */
export const orNull = (value: unknown): unknown => (value === undefined || value === '' ? null : value);

/** A boolean; Entra ID sends it as a text. */
function booleanOf(value: unknown): boolean {
  const text = typeof value === 'boolean' ? String(value) : typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw badRequest('invalidValue', 'active must be true or false');
  return text === 'true';
}

/** Of several addresses the primary one, then that of work, then the first. */
const emailOf = (emails: readonly Attributes[]): unknown =>
  orNull(
    (
      emails.find(({ primary }) => primary === true || String(primary).toLowerCase() === 'true') ??
      emails.find(({ type }) => String(type).toLowerCase() === 'work') ??
      emails[0]
    )?.value,
  );

function finished({ username, externalid, displayname, active, name, emails }: UserDraft): ScimUser {
  const { formatted, givenname, familyname } = name;
  const read = readTexts({
    userName: username,
    externalId: orNull(externalid),
    displayName: orNull(displayname),
    formatted: orNull(formatted),
    givenName: orNull(givenname),
    familyName: orNull(familyname),
    email: emailOf(emails),
  });
  if (!read.ok) throw badRequest('invalidValue', read.message);
  const { userName, externalId = null, email = null, ...parts } = read.value;
  const names = Object.fromEntries(Object.entries(parts).filter(([, part]) => part)) as PersonNames;
  const whole = [names.givenName, names.familyName].filter(Boolean).join(' ');
  return {
    userName,
    externalId,
    email,
    names: Object.keys(names).length > 0 ? names : null,
    name: (names.displayName ?? names.formatted ?? whole.slice(0, personBounds.name)) || null,
    active: active === undefined || active === null ? null : booleanOf(active),
  };
}

/** What a body of POST or PUT sets. Attributes that devmgr does not store are ignored. Refuses with `invalidValue` and `invalidSyntax`. */
export function readUser(body: unknown): ScimUser {
  const { username, externalid, displayname, active, name, emails } = requiredObject(body);
  const draft = { username, externalid, displayname, active, name: isObject(name) ? name : {} };
  return finished({ ...draft, emails: emails === undefined ? [] : valuesIn(emails) });
}

/** The person after a PATCH. */
export function patchUser(person: PersonRecord, body: unknown): ScimUser {
  const draft = draftOf(person);
  for (const operation of readPatch(body, mostOperations.user)) {
    const { name, sub } = operation.path;
    const value = operation.op === 'remove' ? null : operation.value;
    if (name === 'id' || name === 'groups' || name === 'meta') {
      // Okta repeats the id of what it changes.
      if (name === 'id' && value === personIds.format(person.number)) continue;
      throw badRequest('mutability', `${name} cannot be changed`);
    }
    if (name === 'emails') draft.emails = patchValues(draft.emails, operation);
    else if (name === 'name') draft.name = named(draft.name, sub, value);
    else if (name === 'username' || name === 'externalid' || name === 'displayname' || name === 'active')
      draft[name] = textIn(value);
  }
  if (draft.active === null) throw badRequest('invalidValue', 'active must be true or false');
  return finished(draft);
}

function named(before: Attributes, sub: string | null, value: unknown): Attributes {
  if (sub !== null) return { ...before, [sub]: textIn(value) };
  if (value === null) return {};
  if (!isObject(value)) throw badRequest('invalidValue', 'name must be an object');
  return { ...before, ...value };
}

/** Without the state: a request that does not say it does not repeat that the person has left. */
const draftOf = ({ userName, externalId, names, name, email }: PersonRecord): UserDraft => ({
  username: userName,
  externalid: externalId,
  displayname: names ? names.displayName : name,
  active: undefined,
  name: { formatted: names?.formatted, givenname: names?.givenName, familyname: names?.familyName },
  emails: email === null ? [] : [{ value: email, type: 'work', primary: true }],
});

/** Where the resources are. */
export const locationOf = (base: string, kind: 'Users' | 'Groups', id: string): string => `${base}/${kind}/${id}`;

/** The tag of a version. */
export const etagOf = (version: number): string => `W/"${version}"`;

/** A person as a user. `lockedDevices`: numbers of devices that a leave has locked, present if they were looked for. */
export function userResource(person: PersonRecord, { list }: Groups, base: string, lockedDevices?: readonly number[]) {
  const id = personIds.format(person.number);
  const { userName, externalId, names, name, email, active, groups, createdAt, updatedAt, version } = person;
  const { displayName = names ? undefined : (name ?? undefined), ...parts } = names ?? {};
  const devices = lockedDevices?.length
    ? { lockedDevices: lockedDevices.map(number => deviceIds.format(number)) }
    : null;
  const own = new Set(groups);
  return {
    schemas: [schemaIds.user, ...(devices ? [schemaIds.devices] : [])],
    id,
    ...(externalId === null ? {} : { externalId }),
    userName,
    ...(Object.keys(parts).length > 0 ? { name: parts } : {}),
    ...(displayName === undefined ? {} : { displayName }),
    ...(email === null ? {} : { emails: [{ value: email, type: 'work', primary: true }] }),
    active,
    groups: list
      .filter(({ number }) => own.has(number))
      .map(group => {
        const value = groupIds.format(group.number);
        return { value, $ref: locationOf(base, 'Groups', value), display: group.name };
      }),
    ...(devices ? { [schemaIds.devices]: devices } : {}),
    meta: {
      resourceType: 'User',
      created: iso(createdAt),
      lastModified: iso(updatedAt),
      location: locationOf(base, 'Users', id),
      version: etagOf(version),
    },
  };
}

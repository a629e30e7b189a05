/** Persons as users of SCIM 2.0. */
import { Type } from 'typebox';
import { line } from '../../src/contract/fields.ts';
import { deviceIds, groupIds, personIds } from '../../src/contract/ids.ts';
import { isObject } from '../../src/contract/json-object.ts';
import { personBounds } from '../../src/contract/limits.ts';
import { personEmail, personName, personUserName } from '../../src/contract/people.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { iso } from '../base/time.ts';
import type { Groups } from '../people/policy.ts';
import type { PersonDetails, PersonEmail, PersonNames, PersonRecord } from '../people/records.ts';
import { badRequest, ScimError } from './error.ts';
import { type Attributes, requiredObject } from './matching.ts';
import { MAX_VALUES, mostOperations, type PatchOperation, patchValues, readPatch, textIn, valuesIn } from './patch.ts';

/** The names of schemas. */
export const schemaIds = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  /** Extension of a user by devmgr. */
  devices: 'urn:ietf:params:scim:schemas:extension:devmgr:2.0:User',
} as const;

/** Fields of a person that a request sets. */
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

const shapes = {
  userName: personUserName,
  externalId: line(personBounds.externalId),
  displayName: personName,
  formatted: personName,
  givenName: personName,
  familyName: personName,
  email: personEmail,
} as const;
type TextName = keyof typeof shapes;
/** Each text has a reader of its own, because the others can be stored if one cannot. */
const readers = Object.fromEntries(
  Object.entries(shapes).map(([name, shape]) => {
    const optional = Type.Optional(Type.Union([shape, Type.Null()]));
    const read = compileReader(Type.Object({ [name]: name === 'userName' ? shape : optional }));
    return [name, (value: unknown) => read({ [name]: value })];
  }),
);

/** Fields that a request sets, and those that were left out. */
export interface ReadUser {
  readonly user: ScimUser;
  readonly left: readonly ScimError[];
}

/** Identity of the person. If it cannot be stored, the request is refused, unless the person leaves. */
const vital: readonly TextName[] = ['userName', 'externalId'];

/** An empty text means that there is none. */
export const orNull = (value: unknown): unknown => (value === undefined || value === '' ? null : value);

/** A boolean; Entra ID sends it as a text. */
function booleanOf(value: unknown): boolean {
  const text = typeof value === 'boolean' ? String(value) : typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw badRequest('invalidValue', 'active must be true or false', 'active');
  return text === 'true';
}

const isTrue = (value: unknown): boolean => String(value).toLowerCase() === 'true';

/** Characters of the type of an address. */
const MAX_TYPE = 40;

/** Of several addresses the primary one, then that of work, then the first. */
const emailOf = (emails: readonly Attributes[]): unknown =>
  orNull(
    (
      emails.find(({ primary }) => isTrue(primary)) ??
      emails.find(({ type }) => String(type).toLowerCase() === 'work') ??
      emails[0]
    )?.value,
  );

/** Reads a request: `active: false` counts whatever else it contains. `known`: the person before, for values left out. */
class UserReader {
  readonly left: ScimError[] = [];
  readonly #known: UserDraft;
  readonly isLeave: boolean;

  constructor(known: PersonRecord | null, active: unknown) {
    this.#known = known ? draftOf(known) : none;
    this.isLeave = String(textIn(active)).toLowerCase() === 'false';
  }

  /** Leaves out what cannot be stored; if it is vital, a leave alone does not refuse the request. */
  readonly fault = (fault: ScimError, isVital = true): void => {
    if (isVital && !this.isLeave) throw fault;
    this.left.push(fault);
  };

  text<N extends TextName>(name: N, value: unknown, before: unknown): string | null {
    const read = readers[name]!(orNull(value));
    if (read.ok) return (read.value as Record<string, string | null>)[name] ?? null;
    this.fault(badRequest('invalidValue', read.message, name), vital.includes(name));
    return (orNull(before) ?? null) as string | null;
  }

  /** The addresses that are sent; null if the only one is that of work, which `email` has. An invalid one is left out. */
  #addresses(emails: readonly Attributes[], email: string | null): readonly PersonEmail[] | null {
    const main = emailOf(emails);
    const read = emails.slice(0, MAX_VALUES).flatMap(({ value, type, primary }): PersonEmail[] => {
      // An invalid main address is named already.
      const address = value === main ? (value === email ? email : null) : this.text('email', value, null);
      if (address === null) return [];
      const kind = typeof type === 'string' && type !== '' ? { type: type.slice(0, MAX_TYPE) } : {};
      return [{ value: address, ...kind, ...(isTrue(primary) && { primary: true }) }];
    });
    const [first] = read;
    const isPlain = read.length === 1 && first!.type === 'work';
    return read.length === 0 || isPlain ? null : read;
  }

  finish({ username, externalid, displayname, active, name, emails }: UserDraft): ReadUser {
    const known = this.#known;
    const userName = this.text('userName', username, known.username);
    // A person who is not known yet cannot leave without a name.
    if (userName === null) throw this.left[0] ?? badRequest('invalidValue', 'userName is required', 'userName');
    const externalId = this.text('externalId', externalid, known.externalid);
    const parts = {
      displayName: this.text('displayName', displayname, known.displayname),
      formatted: this.text('formatted', name.formatted, known.name.formatted),
      givenName: this.text('givenName', name.givenname, known.name.givenname),
      familyName: this.text('familyName', name.familyname, known.name.familyname),
    };
    const email = this.text('email', emailOf(emails), emailOf(known.emails));
    const addresses = this.#addresses(emails, email);
    const all = { ...parts, ...(addresses && { emails: addresses }) };
    const names = Object.fromEntries(Object.entries(all).filter(([, part]) => part)) as PersonNames;
    const whole = [names.givenName, names.familyName].filter(Boolean).join(' ');
    const user = {
      userName,
      externalId,
      email,
      names: Object.keys(names).length > 0 ? names : null,
      name: (names.displayName ?? names.formatted ?? whole.slice(0, personBounds.name)) || null,
      active: this.isLeave ? false : active === undefined || active === null ? null : booleanOf(active),
    };
    return { user, left: this.left };
  }
}

/**
 * Fields that a body of POST or PUT sets. Attributes that devmgr does not store are ignored. `known`: the person, if it exists already.
 * Refuses with `invalidValue` and `invalidSyntax`.
 */
export function readUser(body: unknown, known: PersonRecord | null): ReadUser {
  const faults: ScimError[] = [];
  const { username, externalid, displayname, active, name, emails } = requiredObject(body, fault => faults.push(fault));
  const reader = new UserReader(known, active);
  for (const fault of faults) reader.fault(fault);
  if (orNull(name) !== null && !isObject(name))
    reader.fault(badRequest('invalidValue', 'name must be an object', 'name'));
  const draft = { username, externalid, displayname, active, name: isObject(name) ? name : {} };
  return reader.finish({ ...draft, emails: emails === undefined ? [] : valuesIn(emails) });
}

/** The person after a PATCH. */
export function patchUser(person: PersonRecord, body: unknown): ReadUser {
  const faults: ScimError[] = [];
  const operations = readPatch(body, mostOperations.user, fault => faults.push(fault), 'active');
  const reader = new UserReader(person, operations.findLast(({ path }) => path.name === 'active')?.value);
  for (const fault of faults) reader.fault(fault);
  const draft = draftOf(person);
  for (const operation of operations)
    try {
      change(draft, person, operation);
    } catch (error) {
      if (!(error instanceof ScimError)) throw error;
      reader.fault(error);
    }
  if (draft.active === null && !reader.isLeave)
    throw badRequest('invalidValue', 'active must be true or false', 'active');
  return reader.finish(draft);
}

function change(draft: UserDraft, person: PersonRecord, operation: PatchOperation): void {
  const { name, sub } = operation.path;
  // Without a value the state is not changed: whether somebody has left is never left open.
  if (name === 'active' && operation.op === 'remove') return;
  const value = operation.op === 'remove' ? null : operation.value;
  if (name === 'id' || name === 'groups' || name === 'meta') {
    // Okta repeats the id of what it changes.
    if (name === 'id' && value === personIds.format(person.number)) return;
    throw badRequest('mutability', `${name} cannot be changed`, name);
  }
  if (name === 'emails') draft.emails = patchValues(draft.emails, operation);
  else if (name === 'name') draft.name = named(draft.name, sub, value);
  else if (name === 'username' || name === 'externalid' || name === 'displayname' || name === 'active')
    draft[name] = textIn(value);
}

function named(before: Attributes, sub: string | null, value: unknown): Attributes {
  if (sub !== null) return { ...before, [sub]: textIn(value) };
  if (value === null) return {};
  if (!isObject(value)) throw badRequest('invalidValue', 'name must be an object', 'name');
  return { ...before, ...value };
}

const none: UserDraft = {
  username: null,
  externalid: null,
  displayname: null,
  active: undefined,
  name: {},
  emails: [],
};

/** Without the state: a request that does not say it does not repeat that the person has left. */
const draftOf = ({ userName, pendingName, externalId, names, name, email }: PersonRecord): UserDraft => ({
  // A request that does not name it does not take back a name that waits for a release.
  username: pendingName ?? userName,
  externalid: externalId,
  displayname: names ? names.displayName : name,
  active: undefined,
  name: { formatted: names?.formatted, givenname: names?.givenName, familyname: names?.familyName },
  emails: addressesOf({ names, email }),
});

/** The addresses as a resource has them. */
const addressesOf = ({ names, email }: Pick<PersonRecord, 'names' | 'email'>): readonly Attributes[] =>
  names?.emails?.map(one => ({ ...one })) ?? (email === null ? [] : [{ value: email, type: 'work', primary: true }]);

/** Where the resources are. */
export const locationOf = (base: string, kind: 'Users' | 'Groups', id: string): string => `${base}/${kind}/${id}`;

/** The tag of a version. */
export const etagOf = (version: number): string => `W/"${version}"`;

/** Finds groups by their numbers, because a page has as many persons as it has groups to look for. */
export function groupFinder({ list }: Groups): (number: number) => Groups['list'][number] | undefined {
  const byNumber = new Map(list.map(group => [group.number, group]));
  return number => byNumber.get(number);
}

/** A person as a user. `lockedDevices`: numbers of devices that a leave has locked, present if they were looked for. */
export function userResource(
  person: PersonRecord,
  groupWith: ReturnType<typeof groupFinder>,
  base: string,
  lockedDevices?: readonly number[],
) {
  const id = personIds.format(person.number);
  const { userName, externalId, names, name, active, groups, createdAt, updatedAt, version } = person;
  const { displayName = names ? undefined : (name ?? undefined), emails: _, ...parts } = names ?? {};
  const emails = addressesOf(person);
  const devices = lockedDevices?.length
    ? { lockedDevices: lockedDevices.map(number => deviceIds.format(number)) }
    : null;
  return {
    schemas: [schemaIds.user, ...(devices ? [schemaIds.devices] : [])],
    id,
    ...(externalId === null ? {} : { externalId }),
    userName,
    ...(Object.keys(parts).length > 0 ? { name: parts } : {}),
    ...(displayName === undefined ? {} : { displayName }),
    ...(emails.length > 0 && { emails }),
    active,
    groups: groups.flatMap(number => {
      const group = groupWith(number);
      if (!group) return [];
      const value = groupIds.format(number);
      return [{ value, $ref: locationOf(base, 'Groups', value), display: group.name }];
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

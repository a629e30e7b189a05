/** Groups of persons as groups of SCIM 2.0. */
import { Type } from 'typebox';
import { line } from '../../src/contract/fields.ts';
import { groupIds, personIds } from '../../src/contract/ids.ts';
import { personBounds } from '../../src/contract/limits.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { iso } from '../base/time.ts';
import type { GroupRecord } from '../people/policy.ts';
import type { PersonRecord } from '../people/records.ts';
import { badRequest } from './error.ts';
import { equalTexts, requiredObject } from './matching.ts';
import { mostOperations, readPatch, refuse, textIn, valuesIn } from './patch.ts';
import { etagOf, locationOf, orNull, schemaIds } from './users.ts';

/** Fields of a group that a request sets. */
interface ScimGroup {
  readonly name: string;
  readonly externalId: string | null;
}

/** Ids of persons that become members or stop being members. */
interface MemberChange {
  /** Null: members that are not named do not change. */
  readonly replace: readonly string[] | null;
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

const readTexts = compileReader(
  Type.Object({
    displayName: line(personBounds.name),
    externalId: Type.Optional(Type.Union([line(personBounds.externalId), Type.Null()])),
  }),
);

function finished(displayName: unknown, externalId: unknown): ScimGroup {
  const read = readTexts({ displayName, externalId: orNull(externalId) });
  if (!read.ok) throw badRequest('invalidValue', read.message);
  return { name: read.value.displayName, externalId: read.value.externalId ?? null };
}

const idsOf = (value: unknown): string[] => valuesIn(value).map(one => String(one.value));

/** Whether a member is a group: its members would have to be found again with each of its changes. */
export const isGroupId = (id: string): boolean => groupIds.parse(id) !== null;

/** Fields that a body of POST or PUT sets. Refuses with `invalidValue` and `invalidSyntax`. */
export function readGroup(body: unknown): ScimGroup & { readonly members: readonly string[] } {
  const { displayname, externalid, members } = requiredObject(body, refuse);
  return { ...finished(displayname, externalid), members: members === undefined ? [] : idsOf(members) };
}

/** The group after a PATCH. */
export function patchGroup(group: GroupRecord, body: unknown): ScimGroup & MemberChange {
  let [name, externalId] = [group.name as unknown, group.externalId as unknown];
  let replace: string[] | null = null;
  const add = new Set<string>();
  const remove = new Set<string>();
  for (const { op, path, value } of readPatch(body, mostOperations.group)) {
    const attribute = path.name;
    if (attribute === 'displayname') name = op === 'remove' ? null : textIn(value);
    else if (attribute === 'externalid') externalId = op === 'remove' ? null : textIn(value);
    else if (attribute === 'members') {
      const wanted = path.filter ? equalTexts(path.filter, 'value') : null;
      if (path.filter && wanted === null)
        throw badRequest('invalidFilter', 'members are selected by value eq "…" only, several with or');
      const ids = [...(wanted ?? idsOf(value))];
      if (op === 'replace' || (op === 'remove' && wanted === null && (value === undefined || value === null))) {
        replace = op === 'replace' ? ids : [];
        add.clear();
        remove.clear();
      }
      for (const id of op === 'replace' ? [] : ids) {
        (op === 'add' ? add : remove).add(id);
        (op === 'add' ? remove : add).delete(id);
      }
    } else if (attribute === 'id' && value === groupIds.format(group.number)) continue;
    else if (attribute === 'id' || attribute === 'meta')
      throw badRequest('mutability', `${attribute} cannot be changed`);
  }
  return { ...finished(name, externalId), replace, add: [...add], remove: [...remove] };
}

/** A person as a member of a group. */
export function memberOf({ number, userName }: PersonRecord, base: string) {
  const value = personIds.format(number);
  return { value, $ref: locationOf(base, 'Users', value), display: userName, type: 'User' };
}

/** A group in the form of the standard. `members`: absent if the request leaves them out. */
export function groupResource(group: GroupRecord, base: string, members?: readonly ReturnType<typeof memberOf>[]) {
  const id = groupIds.format(group.number);
  return {
    schemas: [schemaIds.group],
    id,
    ...(group.externalId === null ? {} : { externalId: group.externalId }),
    displayName: group.name,
    ...(members && { members }),
    meta: {
      resourceType: 'Group',
      created: iso(group.createdAt),
      lastModified: iso(group.updatedAt),
      location: locationOf(base, 'Groups', id),
      version: etagOf(group.version),
    },
  };
}

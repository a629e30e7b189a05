/** The names, addresses and ids that a person had before a batch, and to whom a device belonged. Changes nothing. */
import { groupIds, personIds } from '../../src/contract/ids.ts';
import type { UndoStep } from '../../src/contract/undo.ts';
import type { DeviceRecord } from '../devices/records.ts';
import type { Store } from '../store/store.ts';
import { holderOf, isSame } from './decisions.ts';
import { readGroups } from './lookups.ts';
import { type Groups, namesOf } from './policy.ts';
import type { PersonRecord } from './records.ts';
import { type FormerValues, formerFields, formerIn } from './sealed-names.ts';
import type { ChangedBatch, ChangedDevice, ChangedPerson } from './undo-batch.ts';

/** Values that a person gets back, and why others stay. */
interface Former {
  readonly set: FormerValues;
  readonly faults: readonly string[];
  /** Of the registry; null if those of the person stay. */
  readonly groups: Groups | null;
}

/** The former values of what the batch has changed, unless someone has changed it since. Persons whom it has added keep their values. */
export async function formerOf(
  store: Pick<Store, 'devicesOf' | 'laterPersonEntries' | 'document'>,
  batch: ChangedBatch,
  person: PersonRecord,
  changed: ChangedPerson,
): Promise<Former> {
  if (changed.fields.size === 0 || changed.isAdded) return { set: {}, faults: [], groups: null };
  const values: FormerValues = {};
  for (const sealed of changed.former.toReversed()) Object.assign(values, formerIn(sealed, person));
  if (changed.fields.has('userName') && values.userName === undefined) {
    const shown = await shownName(store, batch, person, changed);
    if (shown !== undefined) Object.assign(values, { userName: shown });
  }
  const faults: string[] = [];
  const groups = values.groups ? await readGroups(store) : null;
  if (values.groups && groups) {
    const isPresent = (wanted: number) => groups.list.some(({ number }) => number === wanted);
    const gone = values.groups.filter(number => !isPresent(number)).map(number => groupIds.format(number));
    if (gone.length > 0) faults.push(`groups: the registry no longer has ${gone.join(', ')}`);
    Object.assign(values, { groups: values.groups.filter(isPresent) });
  }
  const unknown = [...changed.fields].filter(field => !(field in values));
  if (unknown.length > 0)
    faults.push(
      `${unknown.join(', ')}: not restored, because entries of earlier versions have no former values. The next synchronization of the source, or people import, sets them`,
    );
  const later = await changedLater(store, person.number, changed.last);
  // What a person of the batch has given up for another one counts as a change of the batch.
  const givenUp = { userName: personIds.format(person.number), externalId: null };
  const isOfBatch = (field: keyof FormerValues) =>
    !later.has(field) || (field in givenUp && person[field] === givenUp[field as keyof typeof givenUp]);
  const wanted = formerFields.filter(field => field in values && !isSame(values[field], person[field]));
  const others = wanted.filter(field => !isOfBatch(field));
  if (others.length > 0) faults.push(`${others.join(', ')}: changed since`);
  const set: FormerValues = Object.fromEntries(wanted.filter(isOfBatch).map(field => [field, values[field]]));
  return { set, faults, groups: set.groups ? groups : null };
}

/** The first user name that devices of the person showed in the batch, for entries without former values. */
async function shownName(
  store: Pick<Store, 'devicesOf'>,
  batch: ChangedBatch,
  { number }: PersonRecord,
  { named }: ChangedPerson,
): Promise<string | undefined> {
  const devices = await store.devicesOf(number);
  const shown = devices.flatMap(device => batch.names.get(device.number) ?? []);
  return [...named].flatMap(key => shown.find(one => one.key === key) ?? []).at(0)?.before;
}

async function changedLater(store: Pick<Store, 'laterPersonEntries'>, person: number, after: number) {
  const entries = await store.laterPersonEntries(person, after);
  return new Set(entries.flatMap(({ detail }) => (JSON.parse(detail) as { fields?: readonly string[] }).fields ?? []));
}

/**
 * To whom a device belongs once the batch is undone, and the person whom its name means then. A person who was added for its name since
 * has it, as without the batch; not if others had the name before.
 */
export async function ownerBefore(
  store: Pick<Store, 'person' | 'peopleNamed'>,
  { persons }: ChangedBatch,
  device: Pick<DeviceRecord, 'person' | 'userId'>,
  holder: ChangedDevice['holder'],
): Promise<readonly [owner: number | null, person: PersonRecord | null]> {
  const owner = holder === null ? device.person : holder.before.person;
  if (owner !== null) return [owner, await store.person(owner)];
  if (holder === null) return [null, null];
  const named = await store.peopleNamed(holder.before.userId ?? device.userId!);
  const others = named.filter(({ number }) => !persons.get(number)?.isAdded);
  const person = holderOf(others) ?? null;
  return [named.length === 1 ? (person?.number ?? null) : null, person];
}

/** The changes of a person as a step shows them. `groups`: of the registry, if those of the person change. */
export const shownChanges = (person: PersonRecord, set: FormerValues, groups: Groups | null): UndoStep['changes'] =>
  formerFields
    .filter(field => field in set)
    .map(field => {
      const shown = (value: FormerValues[typeof field] | null) =>
        groups && Array.isArray(value) ? namesOf(groups, value).join(', ') || null : shownValue(value);
      return { field, before: shown(person[field]), after: shown(set[field] ?? null) };
    });

const shownValue = (value: FormerValues[keyof FormerValues] | null): string | null =>
  value === null || value === undefined || typeof value === 'string'
    ? (value ?? null)
    : Object.entries(value)
        .map(([part, text]) => `${part} ${Array.isArray(text) ? text.map(one => one.value).join(' ') : text}`)
        .join(', ');

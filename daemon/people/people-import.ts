/** Persons of a list that an ADMIN imports: they are added, updated, brought back or ended, in one commit. */

import { type Static, Type } from 'typebox';
import { ApiError, Code, SUCCESS } from '../../src/contract/codes.ts';
import { personIds } from '../../src/contract/ids.ts';
import { type ImportResult, importItem } from '../../src/contract/people-import.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { ImportOutcome } from '../../src/contract/person-values.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { batchResults } from '../requests/batch.ts';
import { type Context, commitLast, retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { ChangeResult } from '../store/commit.ts';
import { comesBack, create, edit, holderOf, isEndedHere, leaverReason } from './decisions.ts';
import type { Leavers } from './leavers.ts';
import { personsByKey } from './lookups.ts';
import type { PersonChange, PersonRecord } from './records.ts';
import type { Refused, RefusedRequests } from './refused.ts';

const SOURCE = 'import';
const itemShape = Type.Object({ ...importItem });
const readItem = compileReader(itemShape);

type ImportItem = Static<typeof itemShape>;
type FieldChanges = ImportResult['changes'];

/** The effect of an item. `leave`: the change is made for all leavers at once. */
interface ItemDecision {
  readonly outcome: ImportOutcome;
  readonly person: PersonRecord | null;
  readonly change: PersonChange | 'leave' | null;
  readonly changes: FieldChanges;
}
type Decided = ItemDecision | { readonly failure: ApiError };

/** Dependencies of the service. */
interface ImportParts extends ServiceParts {
  readonly leavers: Leavers;
  readonly refused: Pick<RefusedRequests, 'changes'>;
}

/** A refusal of the whole request is thrown as an `ApiError`. */
export class PeopleImport extends Service<ImportParts> {
  run(
    context: Context,
    { people, adopt = false, dryRun = false }: Body<'importPeople'>,
  ): Promise<Data<'importPeople'>> {
    return retrying(async () => {
      const decided = await this.#decide(people, adopt);
      const leavers = decided.flatMap(one => ('change' in one && one.change === 'leave' ? [one.person!] : []));
      const active = new Map(await Promise.all(leavers.map(person => this.#activeDevices(person))));
      const step = { step: 'leave', reason: leaverReason(SOURCE), endedBy: 'source' } as const;
      const leaves = leavers.length > 0 && !dryRun ? await this.parts.leavers.changes(leavers, step) : [];
      const left = leaves.values();
      const changes = decided.flatMap(one => {
        if (dryRun || 'failure' in one || one.change === null) return [];
        return one.change === 'leave' ? [left.next().value!] : [one.change];
      });
      const data = (found: readonly ChangeResult[]) => {
        const stored = found.values();
        const resultAt = (one: Decided, i: number): ImportResult => {
          if ('failure' in one) return failed(people[i], one.failure);
          const result = one.change === null ? undefined : stored.next().value;
          return resultOf(one, people[i], result, active.get(one.person?.number ?? 0) ?? 0);
        };
        return batchResults(decided.map(resultAt));
      };
      const refused = dryRun
        ? []
        : this.parts.refused.changes(
            SOURCE,
            decided.flatMap((one, i) => refusedItem(one, people[i])),
          );
      const all = [...changes, ...refused];
      return all.length > 0 ? commitLast(this.store, context, { at: this.now(), changes: all }, data) : data([]);
    });
  }

  async #decide(items: readonly unknown[], adopt: boolean): Promise<Decided[]> {
    const read = items.map(item => readItem(item));
    const keys = read.map(item => (item.ok ? personKey(item.value.userName) : null));
    const known = await personsByKey(this.store, [...new Set(keys.filter(key => key !== null))]);
    const seen = new Set<string | null>();
    const decided: Decided[] = [];
    for (const [i, item] of read.entries()) {
      if (!item.ok) decided.push({ failure: refusal(item.message) });
      else if (seen.has(keys[i]!)) decided.push({ failure: refusal(`userName ${item.value.userName} occurs twice`) });
      else {
        const person = holderOf(known.get(keys[i]!) ?? []) ?? null;
        const locked = person && !person.active ? await this.parts.leavers.lockedDevices(person) : [];
        decided.push(decideItem(item.value, person, adopt, locked));
      }
      seen.add(keys[i]!);
    }
    return decided;
  }

  async #activeDevices({ number }: PersonRecord): Promise<readonly [number, number]> {
    const devices = await this.store.devicesOf(number);
    return [number, devices.filter(({ status }) => status === 'ACTIVE').length];
  }
}

/** A failed item, for the list of refused requests. */
function refusedItem(decided: Decided, item: unknown): Refused[] {
  if (!('failure' in decided)) return [];
  const { userName } = (item ?? {}) as { readonly userName?: unknown };
  return [{ userName: typeof userName === 'string' ? userName : null, field: null, reason: decided.failure.message }];
}

const refusal = (message: string): ApiError => new ApiError(Code.parameterError, message);

/** Decides an item. `lockedDevices` of a person who has left. */
function decideItem(
  { userName, name, email, left = false }: ImportItem,
  person: PersonRecord | null,
  adopt: boolean,
  lockedDevices: readonly number[],
): Decided {
  if (!person) {
    if (left) return { outcome: 'unchanged', person, change: null, changes: [] };
    const details = { userName, name: name ?? null, names: null, email: email ?? null, externalId: null } as const;
    const changes = changesOf(person, { name, email, source: undefined });
    return { outcome: 'created', person, change: create({ ...details, groups: [], source: SOURCE }), changes };
  }
  const isOwn = person.source === SOURCE;
  const isAdopted = adopt && person.source === 'local';
  const changes = left ? [] : changesOf(person, { name, email, source: isAdopted ? SOURCE : undefined });
  if (left ? !person.active && !isOwn : person.active && changes.length === 0)
    return { outcome: 'unchanged', person, change: null, changes };
  if (!isOwn && !isAdopted) return { failure: refusal(otherSource(person)) };
  if (left) return { outcome: 'left', person, change: 'leave', changes };
  if (isEndedHere(person))
    return { failure: refusal(`${person.userName} has left, as an ADMIN has recorded. Bring the person back first`) };
  const set = Object.fromEntries(changes.map(({ field, after }) => [field, after]));
  const details = changes.some(({ field }) => field === 'name') ? { ...set, names: null } : set;
  const back = comesBack(person, lockedDevices, details);
  return { outcome: back ? 'back' : 'updated', person, change: back ?? edit(person, details), changes };
}

const otherSource = ({ number, userName, source }: PersonRecord): string =>
  `${userName} is ${personIds.format(number)} of the source ${source}: ${source === 'local' ? 'adopt persons who were added here, or change this one' : 'change the person there'}`;

/** The fields that get another value; null for a new person. Undefined keeps the one before. */
function changesOf(
  person: PersonRecord | null,
  wanted: { readonly [F in FieldChanges[number]['field']]: string | null | undefined },
): FieldChanges {
  return (['name', 'email', 'source'] as const).flatMap(field => {
    const [before, after] = [person?.[field] ?? null, wanted[field]];
    return after === undefined || after === before ? [] : [{ field, before, after }];
  });
}

function resultOf(
  { outcome, person, changes }: ItemDecision,
  item: unknown,
  result: ChangeResult | undefined,
  active: number,
): ImportResult {
  if (result?.kind === 'duplicate') return failed(item, refusal('userName already exists'));
  const number = result?.kind === 'added' ? result.number : person?.number;
  const personId = number === undefined ? null : personIds.format(number);
  const done = { userName: nameIn(item), personId, status: 'success', code: SUCCESS, message: 'success' } as const;
  if (result?.kind !== 'left') return { ...done, outcome, changes, devices: active };
  const { locked, dueAt, accounts } = result;
  // Without accounts and a delay, the person waits for a release.
  if (dueAt !== null) return { ...done, outcome: 'due', changes, devices: active };
  if (!accounts) return { ...done, outcome: 'held', changes, devices: active };
  const isRepeated = !person!.active && locked.length === 0;
  return { ...done, outcome: isRepeated ? 'unchanged' : 'left', changes, devices: locked.length };
}

const failed = (item: unknown, { code, message }: ApiError): ImportResult => {
  return {
    userName: nameIn(item),
    personId: null,
    status: 'failed',
    code,
    message,
    outcome: null,
    changes: [],
    devices: 0,
  };
};

function nameIn(item: unknown): string | null {
  const { userName } = Object(item) as { readonly userName?: unknown };
  return typeof userName === 'string' ? userName : null;
}

/** The case of a person who has left: what the person still has is read from the registry, only decisions are stored. No I/O. */
import { Code } from '../../src/contract/codes.ts';
import { caseBounds } from '../../src/contract/limits.ts';
import type { CaseKind, caseEnds } from '../../src/contract/person-values.ts';
import { Refusal } from '../base/decision.ts';
import { newSalt, saltedDigest } from '../store/digest.ts';
import type { Entry } from '../store/journal.ts';
import { subject } from './decisions.ts';
import type { PersonRecord } from './records.ts';

/** An item that a person has or had. */
export interface CaseItem {
  readonly kind: CaseKind;
  readonly id: string;
  readonly state: 'open' | 'closed' | 'kept';
  /** Why it is in this state; of one that is kept, the reason of the ADMIN. */
  readonly reason: string | null;
}

/** An item that an ADMIN has decided to keep. */
export interface KeptItem extends Pick<CaseItem, 'kind' | 'id'> {
  readonly reason: string;
  /** The name of the ADMIN. */
  readonly by: string | null;
  readonly at: number;
}

/** A case as it is stored. Times are milliseconds since 1970 (UTC). */
export interface CaseRecord {
  /** The number of the person. */
  readonly number: number;
  readonly openedAt: number;
  /** Null while it is open. */
  readonly closedAt: number | null;
  readonly kept: readonly KeptItem[];
  /** `keyOfItem` of each item that was announced as overdue. */
  readonly overdue: readonly string[];
  /** The items at the closing; null while it is open, and if it ended because the person came back. */
  readonly items: readonly CaseItem[] | null;
  /** Random; without it the digest in the journal shows nothing. */
  readonly salt: string;
  /** Ascends with each change, from 1, also when the person leaves again. */
  readonly version: number;
}

/** Changes an open case. A `Conflict` if it has another version or is closed. */
export interface CaseSet {
  readonly kind: 'case.set';
  readonly person: number;
  readonly before: number;
  readonly set: Partial<Pick<CaseRecord, 'kept' | 'overdue' | 'items'>>;
  readonly closes?: true;
  readonly entries: readonly Entry[];
}

export const keyOfItem = ({ kind, id }: Pick<CaseItem, 'kind' | 'id'>): string => `${kind} ${id}`;

/** The fields that the digest covers. */
export const caseFields = [
  'openedAt',
  'closedAt',
  'kept',
  'overdue',
  'items',
] as const satisfies readonly (keyof CaseRecord)[];

/** The digest of a case, which entries of the journal have. Engines exchange lists as their JSON text. */
export function caseDigest(
  row: { readonly [F in (typeof caseFields)[number]]: unknown } & { readonly salt: string },
): string {
  const values = caseFields.map(field => {
    const value = row[field];
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  });
  return saltedDigest(row.salt, JSON.stringify(values));
}

/** The new case of a person; null if the person has not left, or this leave has a case. `before`: the case of an earlier leave. */
export function opened(
  { number, active, leftAt }: Pick<PersonRecord, 'number' | 'active' | 'leftAt'>,
  { isLeaving, before }: { readonly isLeaving: boolean; readonly before: CaseRecord | null | undefined },
): CaseRecord | null {
  if (active || leftAt === null || (!isLeaving && before && before.openedAt >= leftAt)) return null;
  const version = (before?.version ?? 0) + 1;
  return { number, openedAt: leftAt, closedAt: null, kept: [], overdue: [], items: null, salt: newSalt(), version };
}

/** The items with the decisions of ADMINs: what is open may be kept. */
export const decided = (items: readonly CaseItem[], kept: readonly KeptItem[]): readonly CaseItem[] => {
  const reasons = new Map(kept.map(item => [keyOfItem(item), item.reason]));
  return items.map(item => {
    const reason = item.state === 'open' ? reasons.get(keyOfItem(item)) : undefined;
    return reason === undefined ? item : { ...item, state: 'kept', reason };
  });
};

const openOf = (items: readonly CaseItem[]) => items.filter(({ state }) => state === 'open');

/** An open item stays, by decision of an ADMIN. */
export function keep(record: CaseRecord, items: readonly CaseItem[], item: KeptItem): CaseSet | Refusal {
  const named = keyOfItem(item);
  const found = items.find(one => keyOfItem(one) === named);
  if (!found) return new Refusal(Code.parameterError, `the case has no ${named}. See devmgr people case`);
  if (found.state === 'closed') return new Refusal(Code.parameterError, `${named} is closed: there is nothing to keep`);
  const others = record.kept.filter(one => keyOfItem(one) !== named);
  if (others.length >= caseBounds.kept)
    return new Refusal(Code.parameterError, `a case keeps at most ${caseBounds.kept} items`);
  const { number: person, version: before } = record;
  const entry = { type: 'CASE_ITEM_KEPT', detail: { kind: item.kind, id: item.id } } as const;
  return { kind: 'case.set', person, before, set: { kept: [...others, item] }, entries: [entry] };
}

/** Items that are named in a refusal. */
const NAMED = 5;

/** Closes a case in which nothing is open. */
export function close(
  record: CaseRecord,
  items: readonly CaseItem[],
  person: Pick<PersonRecord, 'number' | 'source'>,
): CaseSet | Refusal {
  const open = openOf(items);
  if (open.length > 0) {
    const named = open.slice(0, NAMED).map(keyOfItem).join(', ');
    return new Refusal(
      Code.parameterError,
      `the case has ${open.length} open ${open.length === 1 ? 'item' : 'items'}: ${named}${open.length > NAMED ? ', …' : ''}. End each, or keep it with a reason`,
    );
  }
  const entries = [ended(person, 'closed')];
  return { kind: 'case.set', person: record.number, before: record.version, set: { items }, closes: true, entries };
}

/** The entry of the end of a case. */
export const ended = (person: Pick<PersonRecord, 'number' | 'source'>, end: (typeof caseEnds)[number]): Entry => ({
  type: 'CASE_CLOSED',
  data: { ...subject(person), end },
});

/** Announces the open items that were not announced. Null if there are none. */
export function overdue(
  record: CaseRecord,
  items: readonly CaseItem[],
  person: Pick<PersonRecord, 'number' | 'source'>,
): CaseSet | null {
  const known = new Set(record.overdue);
  const late = openOf(items).filter(item => !known.has(keyOfItem(item)));
  if (late.length === 0) return null;
  const entries = late.map(({ kind, id: itemId }) => {
    const data = { ...subject(person), kind, itemId };
    return { type: 'CASE_OVERDUE', data } as const;
  });
  const set = { overdue: [...record.overdue, ...late.map(keyOfItem)] };
  return { kind: 'case.set', person: record.number, before: record.version, set, entries };
}

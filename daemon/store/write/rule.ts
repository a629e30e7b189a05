import type { Change, ChangeResult, Commit, Guard } from '../commit.ts';
import type { Entry } from '../journal.ts';
import type { EntryContext } from '../journal-end.ts';
import { type StoreTable, uniqueKey } from '../table.ts';
import type { Draft } from './draft.ts';
import type { WantedRows } from './source.ts';

type Kind = Change['kind'];
type ChangeOf<K extends Kind> = Extract<Change, { kind: K }>;

/** The meaning of a kind of change. */
export interface ChangeRule<C> {
  /** Names what `check` and `apply` look up. */
  readonly needs?: (change: C, wanted: WantedRows) => void;
  /** Throws `Conflict` if the change cannot be made. Only reads. */
  readonly check?: (draft: Draft, change: C) => void;
  /** The change of a commit whose time was raised by so much. The change itself if absent. */
  readonly later?: (change: C, by: number) => C;
  /** Whether its results tell the time of a commit whose time was raised; those of new records do. */
  readonly tellsTime?: true;
  /** Makes the change and its entry. */
  readonly apply: (draft: Draft, change: C, context: EntryContext) => ChangeResult;
}

/** An addition of a subject to a change of another one, in the same commit. */
export interface ChangeAddition<C> {
  readonly needs?: (change: C, wanted: WantedRows) => void;
  readonly check?: (draft: Draft, change: C) => void;
  /** The change with what only this subject knows. Called before `apply` of the rule. */
  readonly complete?: (draft: Draft, change: C) => C;
  /** Changes what follows from it. */
  readonly follow?: (draft: Draft, change: C, context: EntryContext) => void;
}

/** The additions to these kinds of changes. */
export type ChangeAdditions = { readonly [P in Kind]?: ChangeAddition<ChangeOf<P>> };

/** The rule with the additions, in their order. */
export const withAdditions = <C>(rule: ChangeRule<C>, additions: readonly ChangeAddition<C>[]): ChangeRule<C> => ({
  ...rule,
  needs(change, wanted) {
    rule.needs?.(change, wanted);
    for (const { needs } of additions) needs?.(change, wanted);
  },
  check(draft, change) {
    rule.check?.(draft, change);
    for (const { check } of additions) check?.(draft, change);
  },
  apply(draft, change, context) {
    const whole = additions.reduce((made, { complete }) => complete?.(draft, made) ?? made, change);
    const result = rule.apply(draft, whole, context);
    for (const { follow } of additions) follow?.(draft, whole, context);
    return result;
  },
});

/** The rules of these kinds of changes. */
export type ChangeRules<K extends Kind> = { readonly [P in K]: ChangeRule<ChangeOf<P>> };

type GuardKind = Guard['kind'];

/** The condition of a kind of guard. */
export interface GuardRule<G> {
  readonly needs: (guard: G, wanted: WantedRows) => void;
  /** Why the guard does not hold; null if it does. */
  readonly broken: (draft: Draft, guard: G) => string | null;
}

/** The rules of these kinds of guards. */
export type GuardRules<K extends GuardKind> = { readonly [P in K]: GuardRule<Extract<Guard, { kind: P }>> };

/** Whether the caller of a commit may still make it. */
export interface CallerRule {
  readonly needs: (caller: NonNullable<Commit['caller']>, wanted: WantedRows) => void;
  /** Throws `CallerRefused` if the caller has lost the rights of the request. */
  readonly check: (draft: Draft, caller: NonNullable<Commit['caller']>) => void;
}

export const done: ChangeResult = { kind: 'done' };

/** Sets the fields that are given: undefined must not replace a value. */
export function withFields<R extends object>(record: R, set: { readonly [K in keyof R]?: R[K] | undefined }): R {
  const after = { ...record };
  for (const field in set) if (set[field] !== undefined) after[field] = set[field] as R[typeof field];
  return after;
}

interface Numbers {
  readonly number: number;
  readonly createdAt: number;
}

/** The rule of changes that add a record, with an entry about it: `duplicate` if another one has what is unique. */
export function adding<C extends { readonly entry: Entry }, R extends Numbers>(
  table: StoreTable<R>,
  fieldsOf: (change: C) => Omit<R, 'number' | 'createdAt'>,
): ChangeRule<C> {
  return {
    needs: (change, wanted) => wanted.add(table.unique, uniqueKey(table, fieldsOf(change) as R)!),
    apply(draft, change, context) {
      const make = (number: number) => ({ ...fieldsOf(change), number, createdAt: context.at }) as R;
      const { record, isNew } = draft.add(table, make);
      if (!isNew) return { kind: 'duplicate', number: record.number, status: null };
      draft.enter(context, change.entry, null, record.number);
      return { kind: 'added', number: record.number };
    },
  };
}

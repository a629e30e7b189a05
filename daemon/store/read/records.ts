/** How subjects ask for rows, once for all engines, from the tables as data. */
import type { Rows, Window } from '../queries.ts';
import type { Reader } from '../store.ts';
import { columnOf, type Field, type Lookup, type LookupKey, type StoreTable } from '../table.ts';

/** A value that an engine reads at once or after a round trip. */
export type AnswerRecord<T> = T | Promise<T>;

/** The reads of a store as an engine has them. */
export type Reads = {
  readonly [K in keyof Reader]: Reader[K] extends (...input: infer I) => Promise<infer T>
    ? (...input: I) => AnswerRecord<T>
    : never;
};

/** The reads of a subject as a store has them. */
export type ReadsOf<F extends (queries: RecordQueries) => object, R = ReturnType<F>> = {
  readonly [K in keyof R]: R[K] extends (...input: infer I) => AnswerRecord<infer T>
    ? (...input: I) => Promise<T>
    : never;
};

/** How an engine reads rows. */
export interface RecordQueries {
  /** The row that the lookup finds; null if it finds none. */
  one<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): AnswerRecord<Pick<R, S> | null>;
  /** All rows that the lookup finds, ascending by the key of the table. */
  all<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): AnswerRecord<readonly Pick<R, S>[]>;
  /** One row for each of the keys that the lookup finds something by. */
  many<R extends object, S extends Field<R>>(
    lookup: Lookup<R, S>,
    keys: readonly LookupKey[],
  ): AnswerRecord<ReadonlyMap<LookupKey, Pick<R, S>>>;
  /** The rows of a statement with `?` for each of the values, as records of the table if one is given. */
  rows<R extends object>(sql: string, values: readonly LookupKey[], table?: StoreTable<R>): AnswerRecord<readonly R[]>;
  /** A part of the table in order of creation. `only`: of the rows that it names. */
  page<R extends object>(table: StoreTable<R>, window: Window, only?: Only<R> | undefined): AnswerRecord<Rows<R>>;
}

/** The rows of a page: those with this value, or with `upTo` those with at most this value. `also`: SQL of a further condition. */
export interface Only<R> {
  readonly field: Field<R>;
  readonly value: LookupKey;
  readonly upTo?: true;
  readonly also?: string;
}

/** The condition as SQL; `mark` stands for the value. Empty if the page is of all rows. */
export const whereOf = <R>(only: Only<R> | undefined, mark: string): string =>
  only
    ? ['WHERE', columnOf(only.field), only.upTo ? '<=' : '=', mark, ...(only.also ? ['AND', only.also] : [])].join(' ')
    : '';

/** Continues at once, or after the round trip. */
export const withAnswer = <T, U>(answer: AnswerRecord<T>, map: (value: T) => U): AnswerRecord<U> =>
  answer instanceof Promise ? answer.then(map) : map(answer);

/** Like `withAnswer`, of two reads that were sent together. Both are awaited: one that fails unawaited would end the daemon. */
export const withAnswers = <T, U, V>(
  first: AnswerRecord<T>,
  second: AnswerRecord<U>,
  map: (first: T, second: U) => V,
): AnswerRecord<V> =>
  first instanceof Promise || second instanceof Promise
    ? Promise.all([first, second]).then(([one, other]) => map(one, other))
    : map(first, second);

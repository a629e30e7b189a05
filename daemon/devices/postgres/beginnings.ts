/**
 * The first matches of a filter in the order of numbers, as of an earlier moment. A page takes those that still match, and what
 * has changed since. A search would look at each device before a match: those before a time are the oldest ones, and lists begin
 * with the newest; two filters with many devices each can have few in common.
 */

import type { Conditions } from '../../store/postgres/conditions.ts';
import type { Readers } from '../../store/postgres/readers.ts';
import type { DeviceQuery } from '../queries.ts';
import { deviceConditions } from './conditions.ts';
import { changesSince, type FilterTotal, type Moment, movingOf, nameOf, rowsOf, toRemember } from './remembered.ts';

/** At that moment, `numbers` were all matches up to `last`, in the order of the page. */
interface Beginning extends Omit<FilterTotal, 'total'> {
  readonly numbers: readonly number[];
  /** A number; beyond all devices if `numbers` are all matches. */
  readonly last: number;
}

type Changes = NonNullable<ReturnType<typeof changesSince>>;

/** Parts of a statement that also reads `head`, and has the total in `counted`. */
interface KnownBeginning {
  /** Whether `page` has the numbers of the page. */
  readonly areKept: string;
  readonly page: (conditions: Conditions) => string;
}

/** Number of filters for which each store remembers the first matches. */
const most = 500;
/** Most matches that a page may skip for this to be used. */
const deepestPage = 10_000;
/** Devices for each match of page 1, up to which they are searched each time: a statement that names no changes is planned faster. */
const fewSearched = 10;

const beginnings = new WeakMap<Readers, Map<string, Beginning>>();

export class Beginnings {
  readonly #known: Map<string, Beginning>;
  readonly #query: DeviceQuery;
  readonly #name: string;

  /** For pages of `query`, whose order is that of the numbers. */
  constructor(readers: Readers, query: DeviceQuery) {
    this.#known = beginnings.get(readers) ?? new Map();
    beginnings.set(readers, this.#known);
    this.#query = query;
    this.#name = `${query.descending}${query.limit}${nameOf(query)}`;
  }

  /** The remembered matches, as parts of a statement with `values`; undefined if there are none. */
  known(values: unknown[]): KnownBeginning | undefined {
    const { offset, limit } = this.#query;
    const beginning = offset + limit <= deepestPage ? this.#known.get(this.#name) : undefined;
    const changes = beginning && changesSince(beginning, this.#query, values);
    if (!changes) return undefined;
    return { areKept: changes.areKept, page: conditions => this.#page(beginning, changes, conditions) };
  }

  #page(beginning: Beginning, changes: Changes, conditions: Conditions): string {
    const { changed, devices, inStep, step } = changes;
    const { descending, offset, limit } = this.#query;
    const [within, beyond, direction] = descending ? ['>=', '<', 'DESC'] : ['<=', '>', 'ASC'];
    const [last, needed] = [beginning.last, offset + limit].map(value => `${conditions.value(value)}::int8`);
    const [first, skipped] = [conditions.value(limit), conditions.value(offset)];
    const candidates = [
      `SELECT unnest(${conditions.value(beginning.numbers)}::int8[])`,
      `SELECT number FROM ${changed}`,
      `SELECT generate_series(${devices} + 1, (SELECT device FROM head))`,
      // OFFSET 0: the planner would look for them in the order of the numbers, among all devices.
      ...(step > 0
        ? [
            `(SELECT number FROM (SELECT number FROM device ${inStep()} OFFSET 0) AS s ORDER BY number ${direction} LIMIT ${needed})`,
          ]
        : []),
    ];
    const distinct = `SELECT DISTINCT number FROM (${candidates.join(' UNION ALL ')}) AS c (number) WHERE number ${within} ${last}`;
    const matches = deviceConditions(this.#query, conditions.values).where;
    const further = `SELECT number FROM device ${conditions.and(`number ${beyond} ${last}`)} ORDER BY number ${direction}
      LIMIT greatest(least(${needed}, (SELECT total FROM counted)) - (SELECT count(*) FROM beginning), 0)`;
    return `WITH beginning AS MATERIALIZED (SELECT number FROM ${rowsOf(distinct)} ${matches})
      SELECT row_number() OVER () AS place, number FROM (
        SELECT number FROM (
          SELECT number FROM beginning
          -- The second limit is for the planner, which expects a tenth of the table otherwise.
          UNION ALL SELECT number FROM (SELECT number FROM (${further}) AS f LIMIT ${needed}) AS g) AS both_parts
        ORDER BY number ${direction} LIMIT ${first} OFFSET ${skipped}) AS n`;
  }

  forget(): void {
    this.#known.delete(this.#name);
  }

  /** Takes the numbers of the page, with the moment and the number of all matches. */
  read(moment: Moment, total: number, numbers: readonly number[]): void {
    const { descending, offset } = this.#query;
    if (offset > 0) return;
    this.forget();
    const last = total > numbers.length ? numbers.at(-1)! : descending ? 0 : Number.MAX_SAFE_INTEGER;
    const searched = descending ? moment.devices - last : last;
    const isFast = movingOf(this.#query) === undefined && searched <= numbers.length * fewSearched;
    const remembered = toRemember(this.#query, 0, moment);
    if (!remembered || isFast) return;
    this.#known.set(this.#name, { ...remembered, numbers, last });
    if (this.#known.size > most) this.#known.delete(this.#known.keys().next().value!);
  }
}

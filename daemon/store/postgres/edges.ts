/**
 * Where the matches of a filter begin in the order of numbers. A page from there on does not search the devices before them again:
 * devices before a time are the oldest ones, and lists begin with the newest.
 */
import type { DeviceQuery } from '../queries.ts';
import { type Conditions, isSelective } from './conditions.ts';
import type { Readers } from './readers.ts';
import { changesSince, type Moment, nameOf, type Remembered, rowsOf, toRemember } from './remembered.ts';
import { mostHits } from './totals.ts';

/** At the moment, no device beyond `number` matched. */
interface Edge extends Omit<Remembered, 'total'> {
  readonly number: number;
}

/** Filters of each store whose edges are remembered. */
const most = 500;
/** Numbers between the first and the last match of page 1: if there are more, the matches are not near the edge. */
const widestPage = 20_000;
/** Matches from the edge on that a page may skip. */
const deepestPage = 10_000;

const edges = new WeakMap<Readers, Map<string, Edge>>();

export class Edges {
  readonly #known: Map<string, Edge>;
  readonly #query: DeviceQuery;
  readonly #name: string;

  /** For pages of `query`, whose order is that of the numbers. */
  constructor(readers: Readers, query: DeviceQuery) {
    this.#known = edges.get(readers) ?? new Map();
    edges.set(readers, this.#known);
    this.#query = query;
    this.#name = `${query.descending}${nameOf(query)}`;
  }

  /** The numbers of the page, from the edge on if it is known. `otherwise`: the statement that searches all devices. */
  page(conditions: Conditions, otherwise: string): string {
    const edge = this.#known.get(this.#name);
    const { descending, offset, limit } = this.#query;
    const changes = edge && offset + limit <= deepestPage ? changesSince(edge, this.#query, conditions.values) : null;
    if (!changes) return otherwise;
    const { areKept, changed, devices, inStep, step } = changes;
    const [within, beyond, direction] = descending ? ['<=', '>', 'DESC'] : ['>=', '<', 'ASC'];
    const [at, needed] = [edge!.number, offset + limit].map(value => `${conditions.value(value)}::int8`);
    const [first, skipped] = [conditions.value(limit), conditions.value(offset)];
    const ofPage = `ORDER BY number ${direction} LIMIT ${needed}`;
    const late = [
      `SELECT number FROM ${changed}`,
      `SELECT generate_series(${devices} + 1, (SELECT device FROM head))`,
      // OFFSET 0: the planner would look for them in the order of the numbers, among all devices.
      ...(step > 0 ? [`(SELECT number FROM (SELECT number FROM device ${inStep()} OFFSET 0) AS s ${ofPage})`] : []),
    ];
    const lateNumbers = `SELECT DISTINCT number FROM (${late.join(' UNION ALL ')}) AS l (number) WHERE number ${beyond} ${at}`;
    const near = `SELECT row_number() OVER () AS place, number FROM (
      SELECT number FROM (
        (SELECT number FROM device ${conditions.and(`number ${within} ${at}`)} ${ofPage})
        UNION ALL SELECT number FROM ${rowsOf(lateNumbers)} ${conditions.where}) AS both_parts
      ORDER BY number ${direction} LIMIT ${first} OFFSET ${skipped}) AS n`;
    const isKnown = `(SELECT ${areKept} FROM head)`;
    return `SELECT * FROM (${near}) AS n WHERE ${isKnown} UNION ALL SELECT * FROM (${otherwise}) AS n WHERE NOT ${isKnown}`;
  }

  /** Takes the numbers of the page, with the moment and the number of all matches. */
  read(moment: Moment | null, total: number, numbers: readonly number[]): void {
    if (this.#query.offset > 0) return;
    this.#known.delete(this.#name);
    const [first, last] = [numbers[0], numbers.at(-1)];
    if (!moment || first === undefined || Math.abs(first - last!) > widestPage) return;
    if (isSelective(this.#query.keyword) && total <= mostHits) return;
    const remembered = toRemember(this.#query, 0, moment);
    if (remembered) this.#known.set(this.#name, { ...remembered, number: first });
    if (this.#known.size > most) this.#known.delete(this.#known.keys().next().value!);
  }
}

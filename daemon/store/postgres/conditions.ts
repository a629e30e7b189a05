import type { ColumnFilter } from '../read/event-filters.ts';

/** The terms of a WHERE clause, and the values of its parameters. */
export class Conditions {
  readonly values: unknown[];
  readonly #terms: string[] = [];

  /** `values`: those that the statement already has. */
  constructor(values: unknown[] = []) {
    this.values = values;
  }

  /** The parameter for a value. */
  value(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** `left` is a column and an operator. */
  add(left: string, value: unknown): void {
    this.#terms.push(`${left} ${this.value(value)}`);
  }

  addTerm(term: string): void {
    this.#terms.push(term);
  }

  addOneOf(column: string, values: readonly string[]): void {
    if (values.length === 1) this.add(`${column} =`, values[0]);
    else this.addTerm(`${column} = ANY(${this.value(values)}::text[])`);
  }

  /** The column or expression that a filter compares. */
  addField({ column, is }: ColumnFilter, value: unknown): void {
    if (is === 'one of') this.addOneOf(column, value as readonly string[]);
    else this.add(`${column} ${is}`, value);
  }

  get where(): string {
    return this.#terms.length > 0 ? `WHERE ${this.#terms.join(' AND ')}` : '';
  }

  /** The clause with one more term. */
  and(term: string): string {
    return this.#terms.length > 0 ? `${this.where} AND ${term}` : `WHERE ${term}`;
  }
}

export const likeAnywhere = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** The output of a command: data on standard output, everything else on standard error. */

import type { Column } from './column.ts';
import { toCsv } from './csv.ts';
import type { Io } from './io.ts';
import type { Selection } from './jq.ts';
import { Progress } from './progress.ts';
import { choosePaint, type Paint, plain } from './style.ts';
import { table } from './table.ts';
import { harmless, safeJson } from './text.ts';

/** The forms of any result. `table` is for people. */
export const resultFormats = ['table', 'json', 'yaml', 'ndjson'] as const;
/** The forms of a list. `wide` is the table with all columns, whatever the width of the terminal. */
export const listFormats = ['table', 'wide', 'json', 'yaml', 'csv', 'ndjson'] as const;
/** The form of a result; the last two are those of a report. */
export type Format = (typeof listFormats)[number] | 'text' | 'html';

/** Whether programs read the format as values of JSON. */
export const isStructured = (format: Format): boolean => format === 'json' || format === 'yaml' || format === 'ndjson';

interface Options {
  readonly format: Format;
  /** Applied to every JSON value; null writes it whole. */
  readonly selection: Selection | null;
  /** The fields that the result has; all if empty. */
  readonly fields: readonly string[];
  readonly quiet: boolean;
  readonly noColor: boolean;
  readonly verbose: boolean;
}

export class Output {
  readonly io: Io;
  readonly format: Format;
  /** Whether a program reads the result, as JSON or YAML. */
  readonly json: boolean;
  /** The fields that `--fields` names; empty if it is absent. */
  readonly fields: readonly string[];
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Colors for standard output. */
  readonly paint: Paint;
  /** Colors for standard error. */
  readonly tint: Paint;
  /** A line that shows work in progress; without effect if standard error is not a terminal, and with --quiet or --json. */
  readonly progress: Progress;
  /** Whether the terminal of standard error can move its cursor: lists to choose from are drawn there. */
  readonly canDraw: boolean;
  readonly #selection: Selection | null;

  constructor(io: Io, env: Readonly<Record<string, string | undefined>>, options: Options) {
    this.io = io;
    this.format = options.format;
    this.json = isStructured(options.format);
    this.fields = options.fields;
    this.#selection = options.selection;
    this.quiet = options.quiet;
    this.verbose = options.verbose;
    this.paint = choosePaint(env, io.stdoutIsTerminal, options.noColor);
    this.tint = choosePaint(env, io.stderrIsTerminal, options.noColor);
    this.canDraw = io.stderrIsTerminal && env.TERM !== 'dumb';
    const animated = this.canDraw && !options.quiet && !this.json;
    this.progress = new Progress(animated ? io : null, this.tint !== plain);
  }

  /** Text of the command's result. */
  async text(text: string): Promise<void> {
    await this.io.write(harmless(text, this.paint !== plain));
  }

  /** Text of the result. `address`, which a browser can open, is a link on a terminal that has links. */
  async linkedText(text: string, address: string): Promise<void> {
    if (!this.io.stdoutIsTerminal) return this.text(text);
    const { withLinks } = await import('./hyperlinks.ts');
    await this.io.write(withLinks(harmless(text, this.paint !== plain), address));
  }

  /** The one document of a command: JSON or YAML, or of a list with `--output ndjson` a line for each item. */
  async document(value: unknown): Promise<void> {
    if (this.format === 'ndjson') return this.rows(itemsOf(value));
    const chosen = this.#chosen(value);
    if (this.#selection) return this.#selected(this.#selection, [chosen]);
    if (this.format === 'yaml') return this.#yaml(chosen);
    const text = safeJson(chosen, this.#indent);
    if (!this.io.stdoutIsTerminal || this.paint === plain) return this.text(`${text}\n`);
    const { colored } = await import('./json-colors.ts');
    await this.text(`${colored(text, this.paint)}\n`);
  }

  /** One line of NDJSON. */
  async row(value: unknown): Promise<void> {
    await this.rows([value]);
  }

  /** Lines of NDJSON, or items of one YAML sequence, which further calls continue. */
  async rows(all: readonly unknown[]): Promise<void> {
    const values = all.map(value => this.#chosen(value));
    if (this.#selection) await this.#selected(this.#selection, values);
    else if (this.format === 'yaml') await this.#yaml(values);
    else await this.text(values.map(value => `${safeJson(value)}\n`).join(''));
  }

  /** Whether an expression or fields select a part of the result. */
  get isSelective(): boolean {
    return this.#selection !== null || this.fields.length > 0;
  }

  /** The value with the chosen fields alone, in their order; of a list, its items. A field that is absent is null. */
  #chosen(value: unknown): unknown {
    if (this.fields.length === 0 || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(item => this.#chosen(item));
    if ('list' in value && Array.isArray(value.list)) return { ...value, list: this.#chosen(value.list) };
    return Object.fromEntries(this.fields.map(name => [name, fieldOf(value, name) ?? null]));
  }

  get #indent(): number {
    return this.io.stdoutIsTerminal ? 2 : 0;
  }

  async #selected(selection: Selection, values: readonly unknown[]): Promise<void> {
    const end = { signal: this.io.interrupt, mayEnd: !this.io.stdoutIsTerminal };
    for await (const text of selection.textOf(values, this.#indent, end)) await this.text(text);
  }

  async #yaml(value: unknown): Promise<void> {
    const { toYaml } = await import('./yaml.ts');
    await this.text(toYaml(value));
  }

  /** Rows in columns, as wide as the terminal. Resolves to the titles of the columns that have no room. */
  async table<Row>(
    columns: readonly Column<Row>[],
    rows: readonly Row[],
    withHeader = true,
  ): Promise<readonly string[]> {
    const room = this.format === 'wide' ? Number.POSITIVE_INFINITY : this.io.columns;
    let hidden: readonly string[] = [];
    const text = await table(columns, rows, room, this.paint, withHeader, titles => {
      hidden = titles;
    });
    await this.text(text);
    return hidden;
  }

  /** Writes rows for a spreadsheet or a program: all fields, nothing shortened. */
  async csv(fields: readonly string[], rows: readonly object[], withHeader = true): Promise<void> {
    await this.text(toCsv(fields, rows, withHeader));
  }

  /** Useful to know, but not a result. Silent with --quiet. */
  notice(text: string): void {
    if (!this.quiet) this.#say(`${text}\n`);
  }

  /** A notice that is broken between words to fit the terminal. For text without commands: those are copied whole. */
  async prose(text: string): Promise<void> {
    this.notice(await this.#fitted(text));
  }

  /** Introduction of the question that follows, broken like prose. A person is asked, so --quiet does not silence it. */
  async preview(text: string): Promise<void> {
    this.#say(`${await this.#fitted(text)}\n`);
  }

  async #fitted(text: string): Promise<string> {
    if (text.length <= this.io.columns) return text;
    const { wrapped } = await import('./card.ts');
    return wrapped(text, this.io.columns).join('\n');
  }

  /** A problem that does not end the command. */
  warn(text: string): void {
    this.#say(`${this.tint('yellow', 'warning:')} ${text}\n`);
  }

  /** Only with --verbose. */
  trace(text: string): void {
    if (this.verbose) this.#say(`${this.tint('dim', text)}\n`);
  }

  /** Removes what is left of a progress line. */
  end(): void {
    this.progress.clear();
  }

  #say(text: string): void {
    this.io.say(harmless(text, this.tint !== plain));
  }
}

/** The field of a row or of a result. */
export const fieldOf = (row: object, name: string): unknown => (row as Readonly<Record<string, unknown>>)[name];

/** The items of a list; anything else is its own only item. */
function itemsOf(value: unknown): readonly unknown[] {
  const list = (value as { readonly list?: unknown } | null)?.list ?? value;
  return Array.isArray(list) ? list : [value];
}

/** The output of a command: data on standard output, everything else on standard error. */
import { toCsv } from './csv.ts';
import type { Io } from './io.ts';
import { Progress } from './progress.ts';
import { choosePaint, type Paint, plain } from './style.ts';
import { type Column, table } from './table.ts';
import { harmless, safeJson } from './text.ts';

export interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly noColor: boolean;
  readonly verbose: boolean;
}

export class Output {
  readonly io: Io;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Colors for standard output. */
  readonly paint: Paint;
  /** Colors for standard error. */
  readonly tint: Paint;
  /** A line that shows work in progress; without effect if standard error is not a terminal, and with --quiet or --json. */
  readonly progress: Progress;

  constructor(io: Io, env: Readonly<Record<string, string | undefined>>, options: OutputOptions) {
    this.io = io;
    this.json = options.json;
    this.quiet = options.quiet;
    this.verbose = options.verbose;
    this.paint = choosePaint(env, io.stdoutIsTerminal, options.noColor);
    this.tint = choosePaint(env, io.stderrIsTerminal, options.noColor);
    const animated = io.stderrIsTerminal && env.TERM !== 'dumb' && !options.quiet && !options.json;
    this.progress = new Progress(animated ? io : null, this.tint !== plain);
  }

  /** Text of the command's result. */
  async text(text: string): Promise<void> {
    await this.io.write(harmless(text, this.paint !== plain));
  }

  /** The one JSON document of a command. */
  async document(value: unknown): Promise<void> {
    await this.text(`${safeJson(value, this.io.stdoutIsTerminal ? 2 : 0)}\n`);
  }

  /** One line of NDJSON. */
  async row(value: unknown): Promise<void> {
    await this.text(`${safeJson(value)}\n`);
  }

  /** Rows in columns, as wide as the terminal. */
  async table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], withHeader = true): Promise<void> {
    await this.text(await table(columns, rows, this.io.columns, this.paint, withHeader));
  }

  /** The same rows for a spreadsheet or a program: all fields, nothing shortened. */
  async csv(fields: readonly string[], rows: readonly object[], withHeader = true): Promise<void> {
    await this.text(toCsv(fields, rows, withHeader));
  }

  /** Useful to know, but not a result. Silent with --quiet. */
  notice(text: string): void {
    if (!this.quiet) this.#say(`${text}\n`);
  }

  /** A notice that is broken between words to fit the terminal. For text without commands: those are copied whole. */
  async prose(text: string): Promise<void> {
    if (text.length <= this.io.columns) return this.notice(text);
    const { wrapped } = await import('./card.ts');
    this.notice(wrapped(text, this.io.columns).join('\n'));
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

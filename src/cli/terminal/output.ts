/** Where a command puts what it has to say: data on standard output, all else on standard error. */
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
  /** For standard output. */
  readonly paint: Paint;
  /** For standard error. */
  readonly tint: Paint;
  #progress: Progress | null = null;

  constructor(io: Io, env: Readonly<Record<string, string | undefined>>, options: OutputOptions) {
    this.io = io;
    this.json = options.json;
    this.quiet = options.quiet;
    this.verbose = options.verbose;
    this.paint = choosePaint(env, io.stdoutIsTerminal, options.noColor);
    this.tint = choosePaint(env, io.stderrIsTerminal, options.noColor);
  }

  /** Text of the command's result. */
  async text(text: string): Promise<void> {
    this.#progress?.clear();
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

  async table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], withHeader = true): Promise<void> {
    await this.text(table(columns, rows, this.io.columns, this.paint, withHeader));
  }

  async csv(fields: readonly string[], rows: readonly object[], withHeader = true): Promise<void> {
    await this.text(toCsv(fields, rows, withHeader));
  }

  /** Something worth knowing that is no result. Silent with --quiet. */
  notice(text: string): void {
    if (!this.quiet) this.#say(`${text}\n`);
  }

  /** Something the caller should not miss. */
  warn(text: string): void {
    this.#say(`${this.tint('yellow', 'warning:')} ${text}\n`);
  }

  /** With --verbose alone. */
  trace(text: string): void {
    if (this.verbose) this.#say(`${this.tint('dim', text)}\n`);
  }

  /** Takes away what would be left of a progress line. */
  end(): void {
    this.#progress?.clear();
  }

  #say(text: string): void {
    this.#progress?.clear();
    this.io.say(harmless(text, this.tint !== plain));
  }

  /** A line that is redrawn as work goes on; silent where standard error is no terminal. */
  progress(): Progress {
    const shown = this.io.stderrIsTerminal && !this.quiet;
    this.#progress = new Progress(shown ? this.io : null);
    return this.#progress;
  }
}

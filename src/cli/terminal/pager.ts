/** Output that is longer than the screen, passed to a pager. Loaded only on a terminal. */
import type { ChildProcess } from 'node:child_process';
import type { Env } from '../../contract/local.ts';
import { hasUtf8, inAscii } from './glyphs.ts';
import { type Abandon, type Io, readerGone } from './io.ts';
import { width } from './width.ts';

/** Options of less, as git sets them: it ends if the text fits, shows colors but no other controls, and leaves the text there. */
const lessOptions = 'FRX';
/** Exit codes of a shell that cannot run a command. */
const notRun: readonly unknown[] = [126, 127];
/** Characters that are kept until a pager has shown that it reads: more than fit into a pipe. */
const keptLength = 1024 * 1024;

/** The command line of the pager: '' if there is to be none, null for less. */
export function pagerOf(env: Env): string | null {
  const command = env.DEVMGR_PAGER ?? env.PAGER ?? null;
  return command === null ? null : command.trim().replace(/^cat$/, '');
}

/** The terminal, with a pager for what does not fit its screen. `close` when the command has written everything. */
export class PagedIo implements Io {
  readonly #io: Io;
  readonly #env: Env;
  /** Text that has not been passed on. */
  #text = '';
  /** Notices that arrived while the pager ran: they belong below the text. */
  #said = '';
  #rows = 0;
  #pager: Pager | null = null;

  constructor(io: Io, env: Env) {
    this.#io = io;
    this.#env = env;
  }

  get stdin() {
    return this.#io.stdin;
  }
  get stdout() {
    return this.#io.stdout;
  }
  get stderr() {
    return this.#io.stderr;
  }
  get stdinIsTerminal() {
    return this.#io.stdinIsTerminal;
  }
  get stdoutIsTerminal() {
    return this.#io.stdoutIsTerminal;
  }
  get stderrIsTerminal() {
    return this.#io.stderrIsTerminal;
  }
  get columns() {
    return this.#io.columns;
  }
  get rows() {
    return this.#io.rows;
  }
  get interrupt() {
    return this.#io.interrupt;
  }
  finishing(abandon: Abandon): () => void {
    return this.#io.finishing(abandon);
  }

  withoutExit(): () => void {
    return this.#io.withoutExit();
  }

  async write(text: string): Promise<void> {
    if (this.#pager !== null) return this.#pager.write(text);
    this.#text += text;
    this.#rows += rowsOf(text, this.#io.columns);
    if (this.#rows < this.#io.rows) return;
    this.#pager = await Pager.start(this.#io, this.#env);
    const held = this.#text;
    this.#text = '';
    await this.#pager.write(held);
  }

  say(text: string): void {
    if (this.#pager === null && this.#text === '') this.#io.say(text);
    else this.#said += text;
  }

  /** Writes what is left, or waits until the person has left the pager. */
  async close(): Promise<void> {
    const [text, said] = [this.#text, this.#said];
    this.#text = '';
    this.#said = '';
    await this.#pager?.close();
    this.#pager = null;
    if (text !== '') await this.#io.write(text);
    if (said !== '') this.#io.say(said);
  }
}

/** Rows of the screen that the text takes. */
const rowsOf = (text: string, columns: number): number =>
  text
    .split('\n')
    .slice(0, -1)
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(width(line) / columns)), 0);

type PagerEnding = 'left' | 'failed';

/** A running pager. One that cannot be run is replaced by the terminal. */
class Pager {
  readonly #io: Io;
  readonly #child: ChildProcess;
  readonly #isUtf8: boolean;
  readonly #allowExit: () => void;
  /** How the pager has ended. */
  readonly #ended: Promise<PagerEnding>;
  #kept: string | null = '';

  static async start(io: Io, env: Env): Promise<Pager> {
    const { spawn } = await import('node:child_process');
    const command = pagerOf(env);
    const isUtf8 = hasUtf8(env);
    // The token is for this program alone.
    const { DEVMGR_TOKEN: _, ...others } = env;
    const child = spawn(command ?? 'less', [], {
      // Without a locale less takes every byte for a character.
      env: { LESS: lessOptions, LV: '-c', ...(isUtf8 ? { LESSCHARSET: 'utf-8' } : {}), ...others },
      stdio: ['pipe', 'inherit', 'inherit'],
      shell: command !== null,
    });
    return new Pager(io, child, isUtf8);
  }

  constructor(io: Io, child: ChildProcess, isUtf8: boolean) {
    this.#isUtf8 = isUtf8;
    this.#io = io;
    this.#child = child;
    // The pager has the terminal, and Ctrl-C with it.
    this.#allowExit = io.withoutExit();
    child.stdin!.on('error', () => undefined);
    this.#ended = new Promise(resolve => {
      child.once('error', () => resolve('failed'));
      child.once('close', code => resolve(notRun.includes(code) ? 'failed' : 'left'));
    });
  }

  async write(text: string): Promise<void> {
    const written = new Promise<'written' | Promise<PagerEnding>>(resolve => {
      // After an error the pager is about to end.
      this.#child.stdin!.write(this.#isUtf8 ? text : inAscii(text), error => resolve(error ? this.#ended : 'written'));
    });
    if (this.#kept !== null) this.#kept += text;
    const outcome = await Promise.race([written, this.#ended]);
    if (outcome === 'left') throw readerGone();
    if (outcome === 'failed') return this.#writePlainly();
    if ((this.#kept?.length ?? 0) > keptLength) this.#kept = null;
  }

  async close(): Promise<void> {
    this.#child.stdin!.end();
    if ((await this.#ended) === 'failed') await this.#writePlainly();
    this.#allowExit();
  }

  async #writePlainly(): Promise<void> {
    const text = this.#kept ?? '';
    this.#kept = '';
    if (text !== '') await this.#io.write(text);
  }
}

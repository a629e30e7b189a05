/** Output that is longer than the screen, passed to a pager. Loaded only on a terminal. */
import type { ChildProcess } from 'node:child_process';
import type { Env } from '../../contract/local.ts';
import { type Io, readerGone } from './io.ts';
import { hasUtf8, inAscii } from './style.ts';
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

/** The terminal, with a pager for what does not fit its screen. */
export interface PagedIo extends Io {
  /** Writes what is left, or waits until the person has left the pager. To be called when the command has written everything. */
  close(): Promise<void>;
}

/** A terminal whose long output goes to a pager. */
export function pagedIo(terminal: Io, env: Env): PagedIo {
  /** Text that has not been passed on. */
  let held = '';
  /** Notices that arrived while the pager ran: they belong below the text. */
  let said = '';
  let rows = 0;
  let pager: Pager | null = null;
  const takeHeld = (): string => {
    const text = held;
    held = '';
    return text;
  };
  const own = {
    async write(text: string): Promise<void> {
      if (pager !== null) return pager.write(text);
      held += text;
      rows += rowsOf(text, terminal.columns);
      if (rows < terminal.rows) return;
      pager = await Pager.start(terminal, env);
      await pager.write(takeHeld());
    },
    say(text: string): void {
      if (pager === null && held === '') terminal.say(text);
      else said += text;
    },
    async close(): Promise<void> {
      const [text, notices] = [takeHeld(), said];
      said = '';
      await pager?.close();
      pager = null;
      if (text !== '') await terminal.write(text);
      if (notices !== '') terminal.say(notices);
    },
  };
  // The streams and signals are those of the terminal: getters, which open them at their first use.
  return Object.assign(Object.create(terminal) as Io, own);
}

/** Rows of the screen that the text takes. */
const rowsOf = (text: string, columns: number): number =>
  text
    .split('\n')
    .slice(0, -1)
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(width(line) / columns)), 0);

type Ending = 'left' | 'failed';

/** A running pager. One that cannot be run is replaced by the terminal. */
class Pager {
  readonly #io: Io;
  readonly #child: ChildProcess;
  readonly #isUtf8: boolean;
  readonly #allowExit: () => void;
  /** How the pager has ended. */
  readonly #ended: Promise<Ending>;
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
    const written = new Promise<'written' | Promise<Ending>>(resolve => {
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

/** The HID driver in a separate process, with the command prefix and environment of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AttachedKey } from '../../drivers/driver.ts';

const PROGRAM = fileURLToPath(new URL('hid-events.ts', import.meta.url));

export type HidLine =
  | { readonly kind: 'attached' | 'changed' | 'detached'; readonly key: AttachedKey }
  | { readonly kind: 'status'; readonly status: { readonly state: string; readonly detail: string } }
  | { readonly kind: 'started' | 'stopped'; readonly keys: AttachedKey[]; readonly resources?: string[] }
  | { readonly kind: 'notice'; readonly message: string; readonly detail?: Readonly<Record<string, unknown>> };

export class HidProcess {
  readonly lines: HidLine[] = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #read = 0;
  #wake: (() => void) | null = null;

  /** `prefix` comes before node in the command; `env` is merged into the environment of this process. */
  constructor(
    prefix: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
    match: readonly string[] = [],
  ) {
    const [command, ...words] = [...prefix, process.execPath, PROGRAM, ...match];
    this.#child = spawn(command!, words, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#exited = once(this.#child, 'exit').catch(() => undefined);
    createInterface({ input: this.#child.stdout! }).on('line', line => {
      this.lines.push(JSON.parse(line) as HidLine);
      this.#wake?.();
    });
    this.#child.on('exit', () => this.#wake?.());
    this.#child.on('error', () => this.#wake?.());
  }

  /** The next line of this kind; lines of other kinds before it are skipped. Rejects if the process ends first. */
  async next<K extends HidLine['kind']>(kind: K): Promise<HidLine & { kind: K }> {
    for (;;) {
      while (this.#read < this.lines.length) {
        const line = this.lines[this.#read++]!;
        if (line.kind === kind) return line as HidLine & { kind: K };
      }
      const { pid, exitCode, signalCode } = this.#child;
      if (pid === undefined || exitCode !== null || signalCode !== null) {
        throw new Error(`the process ended (${signalCode ?? exitCode ?? 'never started'}) before "${kind}"`);
      }
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  /** Stops the driver. Resolves with the exit status of the process. */
  async end(): Promise<number | null> {
    this.#child.stdin?.end();
    await this.#exited;
    return this.#child.exitCode;
  }
}

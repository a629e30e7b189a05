/** A process that runs many command lines: each takes a tenth of the processor time of a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { programFile } from './test-programs.ts';

export interface CommandLine {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly input: string | Uint8Array;
  /** The program that a command starts for work in the background. */
  readonly program: string;
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command at a time. Its process starts with the first one and ends with this process. */
export class CommandRunner {
  #child: ChildProcess | null = null;
  #isBusy = false;

  /** The result of the command; null if another one is running. Rejects if the process ends. */
  run(line: CommandLine): Promise<CommandResult> | null {
    if (this.#isBusy) return null;
    this.#isBusy = true;
    return this.#result(line).finally(() => {
      this.#isBusy = false;
    });
  }

  async #result(line: CommandLine): Promise<CommandResult> {
    if (!this.#child?.connected) this.#child = start();
    const child = this.#child;
    const ended = new AbortController();
    const { signal } = ended;
    try {
      child.send(line);
      const [result] = await Promise.race([
        once(child, 'message', { signal }) as Promise<[CommandResult]>,
        once(child, 'exit', { signal }).then(([code, by]) => {
          throw new Error(`the process of the commands ended with ${code ?? by} in: ${line.args.join(' ')}`);
        }),
      ]);
      return result;
    } finally {
      ended.abort();
    }
  }
}

function start(): ChildProcess {
  const child = spawn(process.execPath, [programFile('commands-main')], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  // Neither keeps a test run alive.
  child.unref();
  child.channel!.unref();
  return child;
}

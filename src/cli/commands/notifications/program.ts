/** `watch --exec`: runs a program for each event. The event is on its standard input, never among its arguments. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Notification } from '../../../contract/events.ts';
import { environment } from '../../../contract/local.ts';
import { type AttemptResult, delivered, failed } from '../../../delivery/retry.ts';
import { systemCode, systemWords, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { safeJson } from '../../terminal/text.ts';

/** Runs a program without a shell, so that nothing in an argument is evaluated. */
export class EventProgram {
  readonly #words: readonly [program: string, ...args: string[]];
  readonly #running = new Set<ChildProcess>();

  constructor(program: string, args: readonly string[]) {
    this.#words = [program, ...args];
  }

  /** Resolves when the program has ended: 0 means delivered. Rejects with a usage fault if it cannot be started. */
  run(event: Notification, { env }: Context): Promise<AttemptResult> {
    const [program, ...args] = this.#words;
    const child = spawn(program, args, {
      stdio: ['pipe', 'inherit', 'inherit'],
      // A group of its own: Ctrl-C at the terminal reaches only this process, which lets the program finish.
      detached: process.platform !== 'win32',
      // A program does not need the secret of --forward-to.
      env: { ...env, [environment.webhookSecret]: undefined },
    });
    this.#running.add(child);
    // A program may end without reading the event.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${safeJson(event)}\n`);
    return new Promise<AttemptResult>((resolve, reject) => {
      child.once('error', error => {
        if (isTemporary(error)) resolve(failed(`${program} cannot be started: ${systemWords(error)}`));
        else reject(unstartable(program, error));
      });
      child.once('exit', (code, signal) =>
        resolve(code === 0 ? delivered : failed(`${program} ended with ${code ?? signal}`)),
      );
    }).finally(() => this.#running.delete(child));
  }

  /** Ends the programs that are running, with what they have started; by force those that have ignored the request. */
  end(byForce: boolean): void {
    const signal = byForce ? 'SIGKILL' : 'SIGTERM';
    for (const { pid } of this.#running) {
      try {
        if (pid !== undefined) process.kill(process.platform === 'win32' ? pid : -pid, signal);
      } catch {
        // It has just ended.
      }
    }
  }
}

/** Too many processes or files: another attempt may succeed. */
const isTemporary = (error: Error): boolean =>
  ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'].includes(systemCode(error) ?? '');

function unstartable(program: string, error: Error): Error {
  const hint = /\s/.test(program)
    ? 'there is no shell: put arguments after --, as in: watch --exec jq -- .data'
    : 'name a program of PATH, or a file with its path';
  return usage(`${program} cannot be started: ${systemWords(error)}`, hint);
}

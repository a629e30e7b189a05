import type { StartFailure } from '../../src/contract/programs.ts';

/**
 * Why the daemon or a maintenance program does not start. `exitCode` is 2 if an argument or setting is wrong, 5 if what it names
 * does not exist, 9 if a service cannot be reached, else 1.
 */
export class StartRefused extends Error {
  override name = 'StartRefused';
  readonly exitCode: 1 | 2 | 5 | 9;
  readonly hint: string | null;
  /** Set where the program that started the daemon acts on it. */
  readonly reason: StartFailure | undefined;
  constructor(exitCode: 1 | 2 | 5 | 9, message: string, hint: string | null = null, reason?: StartFailure) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
    this.reason = reason;
  }
}

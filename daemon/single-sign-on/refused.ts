import { ApiError, Code } from '../../src/contract/codes.ts';
import type { SsoProblem } from '../../src/contract/values.ts';
import { ClientRefused, ProviderAway, SignInDenied, TokenRefused } from '../base/errors.ts';
import { RetryLater } from '../requests/limiter.ts';

/** No one is signed in. */
export class SsoRefused extends ApiError {
  readonly problem: SsoProblem;
  constructor(problem: SsoProblem, message: string) {
    super(Code.tokenInvalid, message);
    this.problem = problem;
  }
}

/** No one is signed in at a terminal. `cause`: why. The terminal gets the reason if the browser is led to `url`. */
export class TerminalRefused extends Error {
  readonly url: string;
  constructor(cause: Error, url: string) {
    super(cause.message, { cause });
    this.url = url;
  }
}

export const denied = () => new SsoRefused('denied', 'the provider refused the sign-in');

/** The refusal of a sign-in that an error means; null if the error is another one. */
export function refusalOf(error: unknown): SsoRefused | null {
  if (error instanceof SsoRefused) return error;
  // The fault of the client is for ADMINs: sso test, doctor and the log name it.
  if (error instanceof ClientRefused)
    return new SsoRefused('client', 'the provider does not accept this registry: ask an administrator');
  if (error instanceof SignInDenied) return denied();
  if (error instanceof TokenRefused) return new SsoRefused('token', 'the response of the provider is not valid');
  return null;
}

/** The reason that the person is shown; null if the error is not one of a sign-in. */
export function problemOf(error: unknown): SsoProblem | null {
  if (error instanceof SsoRefused) return error.problem;
  if (error instanceof RetryLater) return 'busy';
  return error instanceof ProviderAway ? 'away' : null;
}

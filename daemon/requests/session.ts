import { ApiError, Code } from '../../src/contract/codes.ts';
import { stepUpSeconds } from '../../src/contract/limits.ts';
import type { StepUpMode } from '../../src/contract/local.ts';
import type { Caller, Session } from './context.ts';

/**
 * The session that a single-use code opens in the console, with the sign-in of the session that made the code. `undefined`: a
 * daemon of an earlier version made the code.
 */
export const consoleSession = (session: Session | undefined): Partial<Session> => ({ ...session, console: true });

/** Requires a recent sign-in where a stolen token would do lasting harm. */
export class StepUpRule {
  readonly #mode: StepUpMode;
  readonly #now: () => number;

  /** `now`: milliseconds since 1970. */
  constructor(mode: StepUpMode, now: () => number) {
    this.#mode = mode;
    this.#now = now;
  }

  /** Refuses with 2007 if the session must step up and its sign-in is older than `stepUpSeconds`. Programs cannot sign in. */
  check({ user, session, loginAt }: Pick<Caller, 'user' | 'session' | 'loginAt'>): void {
    if (!user || this.#mode === 'off' || (this.#mode === 'console' && !session?.console)) return;
    demandRecent({ signedInAt: session?.signedInAt ?? loginAt }, this.#now());
  }
}

/** Refuses with 2007 if the sign-in is older than `stepUpSeconds`. `now`: milliseconds since 1970. */
export function demandRecent({ signedInAt }: Pick<Session, 'signedInAt'>, now: number): void {
  if (Math.floor(now / 1000) - signedInAt <= stepUpSeconds) return;
  throw new ApiError(
    Code.noPermission,
    `sign in again to do this: the last sign-in is older than ${stepUpSeconds / 60} minutes (POST /api/auth/step-up)`,
    { stepUp: true },
  );
}

/** What is done before another attempt of a request: one wrapper around whatever sends it. */
import { waitMs } from '../../delivery/retry.ts';
import { counted } from '../count.ts';
import { retry, schedules } from '../retry.ts';
import { isLost, isServerRefusal, type ServerRefusal, Unreachable } from './failures.ts';

/** If the server does not say how long to wait for its limit. */
const defaultWaitSeconds = 15;
/** The longest window of a limit. A proxy or a wrong clock may name a time that is years away. */
const maxWaitSeconds = 3_600;

/**
 * Which losses are repeated: none; `unsent`, those of which the server has received nothing, once it has been started again; `lost`,
 * also those that it may have carried out, which is only right for a read.
 */
export type Repeatable = 'none' | 'unsent' | 'lost';

interface RequestRetryOptions {
  /** Whether to wait if the server's limit is reached. */
  readonly wait: boolean;
  /** Called when a wait for the limit begins. */
  readonly waiting: (text: string) => void;
  readonly trace: (text: string) => void;
  /** How much of the work that needs these requests is done, from 0 to 1; absent if they belong to no longer work. */
  readonly share?: (() => number) | undefined;
  /** Throws a fault of kind `interrupted` if the person ends the program. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** True if the server has been started again. */
  readonly restart: () => Promise<boolean>;
}

/** The retries of one client. */
export class RequestRetry {
  readonly #options: RequestRetryOptions;
  /** The wait for the limit that is under way; requests at the same time share it. */
  #limitWait: Promise<void> | null = null;
  readonly #startedAt = performance.now();

  constructor(options: RequestRetryOptions) {
    this.#options = options;
  }

  /** Resolves as `attempt` does, which is repeated after each wait for the limit, and after losses that are repeatable. */
  run<T>(attempt: () => Promise<T>, repeatable: Repeatable): Promise<T> {
    const { wait, trace, pause, restart } = this.#options;
    let restarted = false;
    let losses = 0;
    return retry(attempt, async error => {
      if (wait && isServerRefusal(error, 429)) {
        this.#limitWait ??= this.#waitForLimit(error).finally(() => {
          this.#limitWait = null;
        });
        await this.#limitWait;
        [restarted, losses] = [false, 0];
      } else if (repeatable !== 'none' && error instanceof Unreachable && !error.maybeDone) {
        if (restarted || !(await restart())) throw error;
        restarted = true;
      } else {
        const milliseconds = repeatable === 'lost' && isLost(error) ? waitMs(schedules.reading, losses++) : null;
        if (milliseconds === null) throw error;
        trace(`${(error as Error).message}; trying again`);
        await pause(milliseconds);
      }
    });
  }

  async #waitForLimit(refusal: ServerRefusal): Promise<void> {
    const { waiting, pause } = this.#options;
    const seconds = Math.min(Math.ceil(refusal.waitSeconds ?? defaultWaitSeconds), maxWaitSeconds);
    const until = new Date(Date.now() + seconds * 1000).toTimeString().slice(0, 8);
    waiting(
      `the server's limit is reached; continuing in ${seconds} s, at ${until}${this.#inAll(seconds)} (--no-wait gives up at once)`,
    );
    await pause(seconds * 1000 + 50);
  }

  /** How long the whole work takes, by what is done of it when this wait ends. */
  #inAll(waitSeconds: number): string {
    const share = this.#options.share?.() ?? 0;
    if (share <= 0) return '';
    const seconds = (performance.now() - this.#startedAt) / 1000 + waitSeconds;
    return `; about ${counted(Math.ceil(seconds / share / 60), 'minute')} in all`;
  }
}

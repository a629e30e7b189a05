/** Waits until the server's limit allows further requests. */
import { isServerRefusal, type ServerRefusal } from './failures.ts';

/** If the server does not say how long to wait for its limit. */
const defaultWaitSeconds = 15;
/** The longest window of a limit. A proxy or a wrong clock may name a time that is years away. */
const maxWaitSeconds = 3_600;

/** How to wait. */
export interface LimitWaitOptions {
  /** Whether to wait at all. */
  readonly wait: boolean;
  /** Called when a wait begins. */
  readonly waiting: (text: string) => void;
  /** Throws a fault of kind `interrupted` if the person ends the program. */
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** The waits of one client. */
export class LimitWait {
  readonly #options: LimitWaitOptions;
  /** The wait that is under way; requests at the same time share it. */
  #current: Promise<void> | null = null;

  constructor(options: LimitWaitOptions) {
    this.#options = options;
  }

  /** Resolves as `attempt` does, which is repeated after each wait. */
  async run<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!isServerRefusal(error, 429) || !this.#options.wait) throw error;
        this.#current ??= this.#pause(error).finally(() => {
          this.#current = null;
        });
        await this.#current;
      }
    }
  }

  async #pause(refusal: ServerRefusal): Promise<void> {
    const seconds = Math.min(Math.ceil(refusal.waitSeconds ?? defaultWaitSeconds), maxWaitSeconds);
    const until = new Date(Date.now() + seconds * 1000).toLocaleTimeString();
    this.#options.waiting(
      `the server's limit is reached; continuing in ${seconds} s, at ${until} (--no-wait gives up at once)`,
    );
    await this.#options.pause(seconds * 1000 + 50);
  }
}

/** Preparations of another attempt of a request: one wrapper around whatever sends it, and one around writes with a key. */
import { retry, waitMs } from '../../delivery/retry.ts';
import { schedules } from '../../delivery/schedules.ts';
import { counted } from '../count.ts';
import { isLost, isServerRefusal, type NotServing, type ServerRefusal, Unreachable } from './failures.ts';

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

/** A key for a write. */
export const newKey = (): string => crypto.randomUUID();

/** Options of a write. */
interface KeyedWrite<T> {
  /** One attempt; each one has the same key. */
  readonly send: () => Promise<T>;
  /** Whether the server accepts keys; asks only if no response has reported it. Rejects with `Unreachable` without a response. */
  readonly acceptsKeys: () => Promise<boolean>;
  /** Asks the server whether it accepts keys, whatever earlier responses have reported. */
  readonly stillAccepts: () => Promise<boolean>;
  /** Finds out where the server is by now. Starts the local daemon if that is needed and allowed. */
  readonly locate: () => Promise<unknown>;
  /** Throws a fault of kind `interrupted` if the person ends the program. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly notice: (text: string) => void;
}

/**
 * Sends a write again if its response was lost. That is safe only with a server that accepts idempotency keys: another one would
 * carry the write out twice. So the server must have said so before the write is sent, and again before it is repeated. Resolves as
 * `send` does. If no attempt gets a response, rejects with the first loss: the write may have been carried out.
 */
export async function sendKeyed<T>(write: KeyedWrite<T>): Promise<T> {
  const { send, stillAccepts, locate, pause, notice } = write;
  const accepted = await write.acceptsKeys().catch(error => {
    // A server that is silent would be silent again.
    if (error instanceof Unreachable && error.timedOut) throw error;
    return false;
  });
  let lost: Unreachable | NotServing | null = null;
  const attempt = async () => {
    if (lost === null) return send();
    await locate();
    if (!(await stillAccepts())) throw lost;
    return send();
  };
  return retry(attempt, async (error, failures) => {
    if (lost === null) {
      if (!accepted || !isLost(error)) throw error;
      lost = error;
      notice(`${error.message}; sending the request again (it is carried out only once)`);
    } else if (error === lost || !(error instanceof Unreachable || isLost(error) || isStillRunning(error))) throw error;
    const wait = waitMs(schedules.keyedWriting, failures);
    if (wait === null) throw lost;
    await pause(wait);
  });
}

/** The first attempt is not finished. A limit that is reached takes longer. */
const isStillRunning = (error: unknown): boolean =>
  isServerRefusal(error, 429) && error.waitSeconds !== null && error.waitSeconds <= 1;

/** Which addresses of one server accept idempotency keys, as far as they have reported it. */
export class AcceptedKeys {
  readonly #accepts = new Map<string, boolean>();

  /** Whether the server at an address has reported that it accepts keys. */
  at(address: string): boolean {
    return this.#accepts.get(address) === true;
  }

  forget(): void {
    this.#accepts.clear();
  }

  /** Sends `health` to an address. Rejects with `Unreachable` if the server does not respond. */
  async ask(address: string, health: () => Promise<unknown>): Promise<boolean> {
    const accepts = ((await health()) as { readonly idempotencyKeys?: unknown }).idempotencyKeys === true;
    this.#accepts.set(address, accepts);
    return accepts;
  }

  /**
   * Asks the server at an address if it has not reported it before. Rejects with `Unreachable` if it does not accept keys and
   * another address does: a write may have been sent there, and would be carried out twice.
   */
  async demand(address: string, health: () => Promise<unknown>): Promise<void> {
    if (this.#accepts.get(address) ?? (await this.ask(address, health))) return;
    if (![...this.#accepts.values()].includes(true)) return;
    throw new Unreachable(`${address} does not accept idempotency keys, unlike another address`, false);
  }
}

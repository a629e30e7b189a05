import { pause } from '../deadline.ts';
import type { KeyIdentity } from '../protocols/identify-key.ts';

/** Milliseconds for which a new key may be incomplete or not yet permitted before the driver gives up on it. */
export const PATIENCE = 5_000;
/** Patience with a key that has a serial, but not from its best source, or that gives invalid answers. */
const PATIENCE_WITH_RESULT = 1_000;
/** Patience with a key that does not answer: long enough to ask twice. */
const PATIENCE_WITHOUT_ANSWER = 2_500;
/** Shortest and longest pause between two attempts, in milliseconds. */
const FIRST_PAUSE = 60;
const MAX_PAUSE = 800;
/** Milliseconds until a key that the driver has given up on, but that may yet become readable, is asked again. */
const ASK_AGAIN_AFTER = 2_000;
/** The longest such time, for a key that has not answered again and again. */
const MAX_ASK_AGAIN_AFTER = 60_000;

/** Milliseconds until a key is asked again, doubled with each inquiry in a row that it has not answered. */
const askAgainAfter = (unanswered: number): number =>
  Math.min(ASK_AGAIN_AFTER * 2 ** Math.max(unanswered - 1, 0), MAX_ASK_AGAIN_AFTER);

/** Milliseconds after which a result that is not final is accepted. */
function patienceWith({ verdict, unsettled, provisional }: KeyIdentity): number {
  if (provisional) return PATIENCE;
  if (verdict.serial !== null || unsettled?.code === 'protocol') return PATIENCE_WITH_RESULT;
  return unsettled?.code === 'timeout' ? PATIENCE_WITHOUT_ANSWER : PATIENCE;
}

/** How far an inquiry is after an attempt. */
export interface InquiryAttempt {
  readonly identity: KeyIdentity;
  /** Milliseconds since the inquiry began. */
  readonly elapsed: number;
  /** Milliseconds that the inquiry may take at most. */
  readonly patience: number;
  /** Something about the key changed during the attempt. */
  readonly changed: boolean;
}

/** Whether the result of the last attempt is accepted. If not, the key is asked again. */
export function isSettled({ identity, elapsed, patience, changed }: InquiryAttempt): boolean {
  if (identity.unsettled === null) return true;
  return !changed && elapsed >= Math.min(patience, patienceWith(identity));
}

/** Asks one key until the result is settled, with growing pauses. */
export class Inquiry {
  /** True while the key is being asked. */
  running = false;
  readonly #ask: () => Promise<KeyIdentity>;
  readonly #removed: AbortSignal;
  #changed = false;
  #wake: (() => void) | null = null;
  /** On the clock of `performance`. */
  #lastAttempt = 0;
  /** Inquiries in a row that ended without an answer of the key. */
  #unanswered = 0;

  /** `ask` makes one attempt; `removed` is aborted when the key is unplugged. */
  constructor(ask: () => Promise<KeyIdentity>, removed: AbortSignal) {
    this.#ask = ask;
    this.#removed = removed;
  }

  /** Ends the current pause. */
  wake(): void {
    this.#wake?.();
  }

  /** Something about the key has changed: the next attempt comes at once, and the running one is not the last. */
  keyChanged(): void {
    this.#changed = true;
    this.#wake?.();
  }

  /** Whether enough time has passed since the last attempt to ask again. */
  get isDue(): boolean {
    return performance.now() - this.#lastAttempt > askAgainAfter(this.#unanswered);
  }

  /** The settled result; null if the key was unplugged. Rejects if the key is unplugged during an attempt. */
  async run(patience: number): Promise<KeyIdentity | null> {
    const began = performance.now();
    for (let wait = FIRST_PAUSE; ; wait = Math.min(wait * 2, MAX_PAUSE)) {
      this.#changed = false;
      const identity = await this.#ask();
      this.#lastAttempt = performance.now();
      if (this.#removed.aborted) return null;
      const elapsed = this.#lastAttempt - began;
      if (isSettled({ identity, elapsed, patience, changed: this.#changed })) {
        this.#unanswered = identity.unsettled?.code === 'timeout' ? this.#unanswered + 1 : 0;
        return identity;
      }
      if (!this.#changed) await this.#pause(wait);
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    const woken = new Promise<void>(resolve => {
      this.#wake = resolve;
    });
    await Promise.race([pause(milliseconds, this.#removed), woken]);
    this.#wake = null;
  }
}

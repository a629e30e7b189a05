import { type PendingTerminalLogin, type WaitingTerminals, waitingBounds } from '../short-lived.ts';

interface Stored extends PendingTerminalLogin {
  /** Ascends. */
  readonly number: number;
  readonly endsAt: number;
  /** Null until a person approves it. */
  login: string | null;
}

export class MemoryTerminalLogins implements WaitingTerminals {
  /** In the order in which they were made and in which they end. */
  readonly #byCode = new Map<string, Stored>();
  readonly #byTerminal = new Map<string, Stored>();
  /** The waiting ones of each network, the oldest first. */
  readonly #waiting = new Map<string, Set<Stored>>();
  #waits = 0;
  #last = 0;
  readonly #now: () => number;

  /** `now`: milliseconds since any moment. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many are stored, expired ones too. */
  get size(): number {
    return this.#byCode.size;
  }

  async add(request: PendingTerminalLogin, milliseconds: number): Promise<void> {
    const now = this.#now();
    for (const oldest of this.#byCode.values()) {
      if (oldest.endsAt > now) break;
      this.#remove(oldest);
    }
    this.#store({ ...request, number: ++this.#last, endsAt: now + milliseconds, login: null });
    const own = this.#waiting.get(request.network)!;
    if (own.size > waitingBounds.perNetwork) this.#remove(first(own));
    if (this.#waits > waitingBounds.total) this.#remove(this.#oldestOfTheLargest());
  }

  async find(code: string): Promise<string | null> {
    return this.#present(code)?.shown ?? null;
  }

  async approve(code: string, login: string): Promise<string | null> {
    const request = this.#present(code);
    if (!request) return null;
    request.login = login;
    this.#endWait(request);
    return request.shown;
  }

  async take(terminal: string): Promise<string | null> {
    const request = this.#byTerminal.get(terminal);
    if (!request || request.login === null) return null;
    this.#remove(request);
    return request.endsAt > this.#now() ? request.login : null;
  }

  #present(code: string): Stored | null {
    const found = this.#byCode.get(code);
    return found && found.login === null && found.endsAt > this.#now() ? found : null;
  }

  #store(request: Stored): void {
    this.#byCode.set(request.code, request);
    this.#byTerminal.set(request.terminal, request);
    const own = this.#waiting.get(request.network);
    if (own) own.add(request);
    else this.#waiting.set(request.network, new Set([request]));
    this.#waits++;
  }

  #remove(request: Stored): void {
    this.#byCode.delete(request.code);
    this.#byTerminal.delete(request.terminal);
    this.#endWait(request);
  }

  #endWait(request: Stored): void {
    const own = this.#waiting.get(request.network);
    if (!own?.delete(request)) return;
    this.#waits--;
    if (own.size === 0) this.#waiting.delete(request.network);
  }

  /** The oldest request of the networks that have the most. Reads each network once, at most `total` of them. */
  #oldestOfTheLargest(): Stored {
    let found = first(this.#waiting.values().next().value!);
    let most = 0;
    for (const own of this.#waiting.values()) {
      const oldest = first(own);
      if (own.size < most || (own.size === most && oldest.number > found.number)) continue;
      most = own.size;
      found = oldest;
    }
    return found;
  }
}

const first = <T>(set: ReadonlySet<T>): T => set.values().next().value!;

/** Turns of clients: each has some at once, and those who wait get theirs one client after the other. */
import { RetryLater } from '../requests/limiter.ts';

/** How many are at once and wait. */
export interface TurnBounds {
  /** At once, of one client. */
  readonly client: number;
  /** At once, of all. */
  readonly total: number;
  /** Of one client and of all, those that wait. Beyond it the client with the most loses its newest. */
  readonly waiting: { readonly client: number; readonly total: number };
  /** Milliseconds that one waits at most. */
  readonly patience: number;
  /** Milliseconds after its end during which a turn stays taken. */
  readonly pause: number;
}

interface WaitingTurn {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** Work of clients with bounds. */
export class ClientTurns {
  readonly #bounds: TurnBounds;
  /** Turns that are taken, by client. */
  readonly #taken = new Map<string, number>();
  /** Requests that wait, by client. The client that waits for its turn longest is first. */
  readonly #lines = new Map<string, WaitingTurn[]>();
  #total = 0;
  #waiting = 0;

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds;
  }

  /** Runs `work` in a turn of the client. Refuses with 429 if too many wait, or if it has waited too long. */
  async run<T>(client: string, work: () => Promise<T>): Promise<T> {
    if (this.#hasTurn(client)) this.#take(client);
    else await this.#wait(client);
    try {
      return await work();
    } finally {
      const { pause } = this.#bounds;
      if (pause > 0) setTimeout(() => this.#release(client), pause).unref();
      else this.#release(client);
    }
  }

  #hasTurn(client: string): boolean {
    const { client: most, total } = this.#bounds;
    return this.#total < total && (this.#taken.get(client) ?? 0) < most;
  }

  #take(client: string): void {
    this.#taken.set(client, (this.#taken.get(client) ?? 0) + 1);
    this.#total++;
  }

  #release(client: string): void {
    const left = this.#taken.get(client)! - 1;
    if (left > 0) this.#taken.set(client, left);
    else this.#taken.delete(client);
    this.#total--;
    for (const [next, line] of this.#lines)
      if (this.#hasTurn(next)) {
        this.#take(next);
        const [first] = line;
        this.#leave(next, first!);
        // Behind the other clients.
        if (this.#lines.delete(next) && line.length > 0) this.#lines.set(next, line);
        first!.begin();
        return;
      }
  }

  #wait(client: string): Promise<void> {
    const { waiting, patience } = this.#bounds;
    const line = this.#lines.get(client) ?? [];
    if (line.length >= waiting.client) throw busy();
    if (this.#waiting >= waiting.total) this.#makeRoom(line.length);
    return new Promise((resolve, reject) => {
      const entry: WaitingTurn = {
        begin: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: () => {
          clearTimeout(timer);
          this.#leave(client, entry);
          reject(busy());
        },
      };
      const timer = setTimeout(entry.refuse, patience).unref();
      line.push(entry);
      this.#lines.set(client, line);
      this.#waiting++;
    });
  }

  /** The client with the most that wait loses its newest. Refuses one that itself would have the most. */
  #makeRoom(own: number): void {
    const [longest = []] = [...this.#lines.values()].sort((a, b) => b.length - a.length);
    if (longest.length <= own + 1) throw busy();
    longest.at(-1)!.refuse();
  }

  #leave(client: string, entry: WaitingTurn): void {
    const line = this.#lines.get(client)!;
    line.splice(line.indexOf(entry), 1);
    this.#waiting--;
    if (line.length === 0) this.#lines.delete(client);
  }
}

/** 429 of a sign-in that the provider was not asked about. */
const busy = () => new RetryLater('too many sign-ins at the provider', 5);

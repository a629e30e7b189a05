/**
 * Counters that all handles of one store share, for limits. They are not part of the registry: a crash of the server may reset them.
 * Windows start with the first use and end by the clock of the server; the clocks of the nodes do not matter. If the
 * server does not answer, every method rejects with `StoreFailure`: those that count do so within seconds, and may have counted.
 */

/** What is asked of a window. */
export interface Taking {
  /** What is counted, such as `login`. */
  readonly scope: string;
  /** Of whom: a user, an address. */
  readonly key: string;
  /** At most this much is granted; nothing if less than `need` is left. Both are at least 1. */
  readonly want: number;
  readonly need: number;
  /** What a window has in all. */
  readonly most: number;
  /** Of what is left, at most one part in `share` is granted, rounded up. */
  readonly share: number;
  /** Length of a window. */
  readonly milliseconds: number;
}

/** A window after something was taken. */
export interface Taken {
  readonly granted: number;
  /** What all handles have taken of the window. */
  readonly used: number;
  /** Milliseconds until the window ends. */
  readonly left: number;
  /** Its end in milliseconds since 1970. */
  readonly endsAt: number;
}

/** How wrong attempts block further ones. */
export interface Backoff {
  /** The wrong attempt that starts the first block. */
  readonly free: number;
  /** Milliseconds of the first block; each further one is twice as long. */
  readonly first: number;
  readonly longest: number;
  /** Milliseconds after the last wrong attempt for which it is remembered. */
  readonly forget: number;
}

/** See the top of the file. */
export interface SharedCounters {
  take(taking: Taking): Promise<Taken>;
  /** Puts back what was taken. `endsAt`: only into the window that ends then; into the current one if absent. */
  giveBack(scope: string, key: string, amount: number, endsAt?: number): Promise<void>;
  /** Milliseconds until the window ends if `most` of it is used, or until the block ends; 0 if neither holds. */
  blockedFor(scope: string, key: string, most: number): Promise<number>;
  /** Counts a wrong attempt. If there is a block, counts nothing and returns the milliseconds until it ends; else 0. */
  wrong(scope: string, key: string, backoff: Backoff): Promise<number>;
  /** Forgets the wrong attempts. If there is a block, forgets nothing and returns the milliseconds until it ends; else 0. */
  right(scope: string, key: string): Promise<number>;
  /** Removes what has ended, in small portions, and of the scope all but the `most` rows that end last. */
  sweep(scope: string, most: number): Promise<void>;
  /** Bytes of all files that records refer to. */
  storedBytes(): Promise<number>;
}

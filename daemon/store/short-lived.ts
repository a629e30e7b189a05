/**
 * State that lives for seconds, minutes or a day: counters of limits, single-use codes, requests of terminals. Not part of the registry: no
 * journal entry, no backup, copy or standby has it. Two engines keep it: `memory/`, which ends with the daemon, and PostgreSQL, which nodes
 * share, by the clock of the server, whose crash may empty it. If the server does not answer, every method rejects with `StoreFailure`.
 */
export interface ShortLived {
  readonly counters: Counters;
  readonly codes: SingleUseCodes;
  readonly terminalLogins: WaitingTerminals;
}

/** That of nodes which share a registry. */
export interface SharedState extends ShortLived {
  readonly counters: SharedCounters;
}

/** A question about a window. A window starts with its first use. */
export interface WindowRequest {
  /** The scope that is counted, such as `login`. All windows of a scope are equally long. */
  readonly scope: string;
  /** Of whom: a user, an address. */
  readonly key: string;
  /** At most this much is granted; nothing if less than `need` is left. Both are at least 1, and 1 if absent. */
  readonly want?: number;
  readonly need?: number;
  /** The size of a window. */
  readonly most: number;
  /** Of what is left, at most one part in `share` is granted, rounded up; all of it if absent. */
  readonly share?: number;
  /** Length of a window. */
  readonly milliseconds: number;
}

/** A window after something was taken. */
export interface WindowState {
  readonly granted: number;
  /** The sum that all handles have taken of the window. */
  readonly used: number;
  /** Milliseconds until the window ends. */
  readonly left: number;
  /** Its end in milliseconds since 1970. */
  readonly endsAt: number;
  /** Names it for `giveBack`. */
  readonly window: number;
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

/** Counters of limits. A promise only if nodes share them; counting then fails within seconds if it fails, and may have counted. */
export interface Counters {
  take(taking: WindowRequest): WindowState | Promise<WindowState>;
  /** Puts back what was taken. `window`: only into this one; into the current one if absent. */
  giveBack(scope: string, key: string, amount: number, window?: number): void | Promise<void>;
  /** Milliseconds until the window ends if `most` of it is used, or until the block ends; 0 if neither holds. */
  blockedFor(scope: string, key: string, most: number): number | Promise<number>;
  /** Counts a wrong attempt. If there is a block, counts nothing and returns the milliseconds until it ends; else 0. */
  wrong(scope: string, key: string, backoff: Backoff): number | Promise<number>;
  /** Forgets the wrong attempts. If there is a block, forgets nothing and returns the milliseconds until it ends; else 0. */
  right(scope: string, key: string): number | Promise<number>;
}

/** `Counters` that all nodes share. */
export interface SharedCounters extends Counters {
  take(taking: WindowRequest): Promise<WindowState>;
  giveBack(scope: string, key: string, amount: number, window?: number): Promise<void>;
  /** Removes what has ended, in small portions, and of the scope all but the `most` rows that end last. */
  sweep(scope: string, most: number): Promise<void>;
  /** Bytes of all files that records refer to. */
  storedBytes(): Promise<number>;
}

/** Codes that can be used once. */
export interface SingleUseCodes {
  /** Keeps what a code opens for so long. `digest` names the code. */
  put(digest: string, session: string, milliseconds: number): Promise<void>;
  /** Removes a code and returns what it opens; null if it is unknown, expired or used. Of several calls one gets it. */
  take(digest: string): Promise<string | null>;
}

/** A request of a terminal that waits for a person to approve it. Anyone can make one, so their number is bounded. */
export interface PendingTerminalLogin {
  /** Digest of the code that the person compares. */
  readonly code: string;
  /** Digest of what the terminal asks with. */
  readonly terminal: string;
  /** Whom it is counted for: an address, or of IPv6 its /64. */
  readonly network: string;
  /** The details that the person is shown, as JSON. */
  readonly shown: string;
}

/**
 * The most requests that wait, for each network and in total. Beyond them the oldest request of that network is removed, or the
 * oldest of the networks with the most: a network with one request loses it only if `total` networks have one each. Approved
 * requests are not counted, because the approvals of each user are limited.
 */
export const waitingBounds = { perNetwork: 50, total: 2000 } as const;

/** Requests of terminals. Each call is one step: a request that was approved, taken or removed by another call is unknown. */
export interface WaitingTerminals {
  /** Keeps a request for so long, and removes expired ones and those above the bounds. */
  add(request: PendingTerminalLogin, milliseconds: number): Promise<void>;
  /** The details of a waiting request; null if none has the code. The request keeps waiting. */
  find(code: string): Promise<string | null>;
  /** Approves a waiting request with a login, as JSON. Returns what it shows; null if none has the code. Of several calls one gets it. */
  approve(code: string, login: string): Promise<string | null>;
  /** Removes an approved request and returns its login; null if it is not approved. Of several calls one gets it. */
  take(terminal: string): Promise<string | null>;
}

/** A request of a terminal that waits for a person to approve it. Anyone can make one, so their number is bounded. */
export interface PendingTerminalLogin {
  /** Digest of the code that the person compares. */
  readonly code: string;
  /** Digest of what the terminal asks with. */
  readonly terminal: string;
  /** Whom it is counted for: an address, or of IPv6 its /64. */
  readonly network: string;
  /** What the person is shown, as JSON. */
  readonly shown: string;
}

/**
 * The most requests that wait, for each network and in total. Beyond them the oldest request of that network is removed, or the oldest of the
 * networks with the most: a network with one request loses it only if `total` networks have one each. Approved requests are not counted,
 * because the approvals of each user are limited.
 */
export const waitingBounds = { perNetwork: 50, total: 2000 } as const;

/**
 * Requests of terminals that all handles of one store share. They are not part of the registry: no journal entry, no backup, copy or standby
 * has them, and a crash of the server may remove them. Each call is one step: a request that was approved, taken or removed by another call
 * is unknown.
 */
export interface SharedTerminalLogins {
  /** Keeps a request for so long by the clock of the server, and removes expired ones and those above the bounds. Rejects with `StoreFailure`. */
  add(request: PendingTerminalLogin, milliseconds: number): Promise<void>;
  /** What a waiting request shows; null if none has the code. It waits on. Rejects with `StoreFailure`. */
  find(code: string): Promise<string | null>;
  /** Approves a waiting request with a login, as JSON. Returns what it shows; null if none has the code. Of several calls one gets it. Rejects with `StoreFailure`. */
  approve(code: string, login: string): Promise<string | null>;
  /** Removes an approved request and returns its login; null if it is not approved. Of several calls one gets it. Rejects with `StoreFailure`. */
  take(terminal: string): Promise<string | null>;
}

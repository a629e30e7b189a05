/**
 * Single-use codes that all handles of one store share. They are not part of the registry: no journal entry, no backup, copy or standby
 * has them, and a crash of the server may remove them.
 */
export interface SharedCodes {
  /** Keeps what a code opens for so long by the clock of the server. `digest` names the code. Rejects with `StoreFailure`. */
  put(digest: string, session: string, milliseconds: number): Promise<void>;
  /** Removes a code and returns what it opens; null if it is unknown, expired or used. Of several calls one gets it. Rejects with `StoreFailure`. */
  take(digest: string): Promise<string | null>;
}

import type { Caller } from './context.ts';

/** Where a request comes from. */
export interface RequestClient {
  /** Address of the client; a forwarded one only if it comes from a trusted proxy. */
  readonly ip: string;
}

/** Finds out who a token belongs to. */
export interface TokenCheck {
  /** Refuses with 1004 or 1005. */
  check(token: string, client: RequestClient): Promise<Caller>;
  /** Like `check`, but synchronous; null if something must be read first: then call `check`. */
  checkNow(token: string, client: RequestClient): Caller | null;
}

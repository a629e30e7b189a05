import { serviceTokenPrefix } from '../../src/contract/values.ts';
import type { Caller } from './context.ts';
import type { ServiceTokens } from './service-tokens.ts';
import type { Tokens } from './tokens.ts';

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

/** Accepts the tokens of logins and service tokens alike. The prefix of a token identifies its kind. */
export const authentication = (logins: Tokens, services: ServiceTokens): TokenCheck => ({
  // The address of a request is found when it is read: logins do not need it.
  check: (token, client) => (isServiceToken(token) ? services.check(token, client.ip) : logins.check(token)),
  checkNow: (token, client) => (isServiceToken(token) ? services.checkNow(token, client.ip) : logins.checkNow(token)),
});

const isServiceToken = (token: string): boolean => token.startsWith(serviceTokenPrefix);

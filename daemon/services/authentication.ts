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
export class Authentication implements TokenCheck {
  readonly #logins: Tokens;
  readonly #services: ServiceTokens;

  constructor(logins: Tokens, services: ServiceTokens) {
    this.#logins = logins;
    this.#services = services;
  }

  check(token: string, client: RequestClient): Promise<Caller> {
    return isServiceToken(token) ? this.#services.check(token, client.ip) : this.#logins.check(token);
  }

  checkNow(token: string, client: RequestClient): Caller | null {
    return isServiceToken(token) ? this.#services.checkNow(token, client.ip) : this.#logins.checkNow(token);
  }
}

const isServiceToken = (token: string): boolean => token.startsWith(serviceTokenPrefix);

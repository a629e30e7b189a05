import { serviceTokenPrefix } from '../../src/contract/values.ts';
import type { TokenCheck } from '../requests/token-check.ts';
import type { ServiceTokens } from './service-tokens.ts';
import type { Tokens } from './tokens.ts';

/** Accepts the tokens of logins and service tokens alike. The prefix of a token identifies its kind. */
export const authentication = (logins: Tokens, services: ServiceTokens): TokenCheck => ({
  // The address of a request is found when it is read: logins do not need it.
  check: (token, client) => (isServiceToken(token) ? services.check(token, client.ip) : logins.check(token)),
  checkNow: (token, client) => (isServiceToken(token) ? services.checkNow(token, client.ip) : logins.checkNow(token)),
});

const isServiceToken = (token: string): boolean => token.startsWith(serviceTokenPrefix);

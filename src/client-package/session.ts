/** Tokens of the client package: one that was given, or those of a login, renewed in time. */
import type { Client, ClientSession } from '../cli/client/client.ts';
import { isServerRefusal } from '../cli/client/failures.ts';
import { renewalTime } from '../cli/client/token.ts';

/** Name and password of a user. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The token of a program, which is not renewed. */
export const tokenSession = (token: string): ClientSession => ({ token: () => Promise.resolve(token) });

/** Logs in with the first request. Renews the token, or logs in again if the server no longer accepts it. */
export function loginSession(login: Credentials): ClientSession {
  let token: string | null = null;
  let renewal: Promise<string> | null = null;
  const renewed = async (client: Client): Promise<string> => {
    const old = token;
    const fresh =
      old === null
        ? await client.send({ operation: 'login', input: { body: login } })
        : await client.send({ operation: 'refreshToken', token: old }).catch(error => {
            if (!isServerRefusal(error) || isServerRefusal(error, 429, 500)) throw error;
            return client.send({ operation: 'login', input: { body: login } });
          });
    token = fresh.data.token;
    return token;
  };
  return {
    token: client => {
      if (token !== null && renewalTime(token) > Date.now()) return Promise.resolve(token);
      // Requests at the same time share the login.
      renewal ??= renewed(client).finally(() => {
        renewal = null;
      });
      return renewal;
    },
  };
}

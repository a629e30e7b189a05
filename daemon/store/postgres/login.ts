import { addressFrom } from './address.ts';
import { passwordFor } from './password.ts';
import type { Login } from './session.ts';

/** Which database, as a program is given it. */
export interface DatabaseAddress {
  /** postgres://user@host:port/database */
  readonly url: string;
  /** For PGSSLMODE, PGSSLROOTCERT, DEVMGR_STORE_PASSWORD_FILE and PGPASSFILE. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How to log in. Throws `StoreMisconfigured`. */
export function loginFrom({ url, env }: DatabaseAddress): Login {
  const address = addressFrom(url, env);
  return { address, password: passwordFor(address, env) };
}

import { StoreFailure, StoreUnavailable } from '../commit.ts';
import { StoreMisconfigured, StoreUnreachable } from '../database.ts';

/** SQLSTATE of an error that the server has reported; an empty text if it has not, because the connection failed. */
export function sqlState(error: unknown): string {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && severity !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : '';
}

const passwordHint = 'check DEVMGR_STORE_PASSWORD_FILE or ~/.pgpass, and the user in the URL';

/** The message of a server or a connection at the start, in a line that names the store and explains what to do. */
export function toOpenFailure(error: unknown, store: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  const state = sqlState(error);
  const options = { cause: error };
  if (/^28/.test(state)) return new StoreMisconfigured(`${store} refuses the login: ${message}`, passwordHint, options);
  if (state === '3D000')
    return new StoreMisconfigured(
      `${store}: ${message}`,
      'create it: createdb --locale=C --encoding=UTF8 --template=template0',
      options,
    );
  if (state === '42501')
    return new StoreMisconfigured(`${store}: ${message}`, 'the user must own the database, or its schema', options);
  if (/certificate|SSL|TLS/i.test(`${message} ${code ?? ''}`))
    return new StoreMisconfigured(
      `${store}: the connection is not secure: ${message}`,
      'see PGSSLMODE and PGSSLROOTCERT',
      options,
    );
  return new StoreUnreachable(
    `${store} cannot be reached: ${message || code}`,
    'is the server running, and is the address right?',
    options,
  );
}

/**
 * Whether the server or the connection failed, not the statement: no answer at all, connections, resources, a server that stops or
 * starts, a lock that is not free in time, a server that became read-only.
 */
const isOutage = (state: string): boolean => /^(?:$|08|53|57|25006|25P03|55P03)/.test(state);

/** A failure without the address of the database, because anyone may request the health. */
export function plainWords(error: unknown, store: string): string {
  const { message, cause } = error as Error;
  if (!cause) return message.replaceAll(store, 'the database');
  const state = sqlState(cause);
  if (state !== '') return `the database answers with the error ${state}`;
  const { code } = cause as NodeJS.ErrnoException;
  return `the database cannot be reached${code ? ` (${code})` : ''}`;
}

/** The `StoreFailure` for an error while reading or writing. `doing` shows what failed. */
export function toFailure(error: unknown, doing: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const state = sqlState(error);
  const Failure = isOutage(state) ? StoreUnavailable : StoreFailure;
  return new Failure(`${doing}: PostgreSQL: ${message}${state ? ` (${state})` : ''}`, { cause: error });
}

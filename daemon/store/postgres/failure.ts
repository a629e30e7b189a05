import { StoreFailure } from '../store.ts';

/** The store cannot be opened as it is configured, or the database must not be used by this program. `hint` says what to do. */
export class StoreMisconfigured extends StoreFailure {
  readonly hint: string;
  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreMisconfigured';
    this.hint = hint;
  }
}

/** The server cannot be reached, or cannot be written to. */
export class StoreUnreachable extends StoreFailure {
  readonly hint: string;
  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreUnreachable';
    this.hint = hint;
  }
}

/** SQLSTATE of an error that the server has reported; an empty text if it has not, because the connection failed. */
export function sqlState(error: unknown): string {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && severity !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : '';
}

const passwordHint = 'check DEVMGR_STORE_PASSWORD_FILE or ~/.pgpass, and the user in the URL';

/** What a server or a connection says at the start, in a line that names the store and says what to do. */
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

/** The `StoreFailure` for an error while reading or writing. `doing` says what failed. */
export function toFailure(error: unknown, doing: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const state = sqlState(error);
  return new StoreFailure(`${doing}: PostgreSQL: ${message}${state ? ` (${state})` : ''}`, { cause: error });
}

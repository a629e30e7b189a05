/** The table of service tokens: its columns, reads and writes. */
import type { ServiceTokenRecord, TokenChange } from '../../domain/service-token.ts';
import { Conflict } from '../commit.ts';
import type { Statements } from './statements.ts';
import { columnsOf, pageOf, type Reads } from './tables.ts';
import type { Apply, Writes } from './writing.ts';

const fields: Record<keyof ServiceTokenRecord, 0> = {
  number: 0,
  name: 0,
  role: 0,
  sha256: 0,
  createdBy: 0,
  createdAt: 0,
  expiresAt: 0,
  lastUsedAt: 0,
  revokedAt: 0,
  allowedFrom: 0,
  may: 0,
};

/** Whether the service tokens of the database have permissions: an older one is read as it is, by a check. */
export const storesPermissions = (statements: Statements): boolean =>
  statements.value(`SELECT 1 FROM pragma_table_info('service_token') WHERE name = 'may'`) !== undefined;

/** Both lists are stored as JSON. */
type Columns = Omit<ServiceTokenRecord, 'allowedFrom' | 'may'> & {
  readonly allowedFrom: string | null;
  readonly may: string;
};

const tokens = {
  table: 'service_token',
  columns: columnsOf(fields),
  toRecord: (columns: Columns): ServiceTokenRecord => ({
    ...columns,
    allowedFrom: columns.allowedFrom === null ? null : JSON.parse(columns.allowedFrom),
    may: JSON.parse(columns.may),
  }),
};

/** The reads of service tokens. */
export function serviceTokenReads(
  statements: Statements,
): Pick<Reads, 'serviceToken' | 'serviceTokenByDigest' | 'serviceTokens'> {
  const find = (column: string, value: unknown) => {
    const sql = `SELECT ${tokens.columns} FROM service_token WHERE ${column} = ?`;
    const columns = statements.get<Columns>(sql, value);
    return columns === undefined ? null : tokens.toRecord(columns);
  };
  return {
    serviceToken: number => find('number', number),
    serviceTokenByDigest: sha256 => find('sha256', sha256),
    serviceTokens: window => pageOf(statements, tokens, window),
  };
}

const add: Apply<'token.add'> = ({ token, entry }, context, writing) => {
  const number = writing.last.service_token + 1;
  const { changes } = writing.statements.run(
    `INSERT INTO service_token (number, name, role, sha256, created_by, created_at, expires_at, allowed_from, may)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING`,
    number,
    token.name,
    token.role,
    token.sha256,
    token.createdBy,
    context.at,
    token.expiresAt,
    token.allowedFrom === null ? null : JSON.stringify(token.allowedFrom),
    JSON.stringify(token.may),
  );
  if (changes === 0) {
    const sql = 'SELECT number FROM service_token WHERE name = ? AND revoked_at IS NULL';
    return { kind: 'duplicate', number: writing.statements.value<number>(sql, token.name)!, status: null };
  }
  writing.last.service_token = number;
  writing.serviceTokens.add(number);
  writing.journal.append(context, entry, null, number);
  return { kind: 'added', number };
};

const revoke: Apply<'token.revoke'> = ({ token, entry }, context, writing) => {
  writing.statements.run('UPDATE service_token SET revoked_at = ? WHERE number = ?', context.at, token);
  writing.serviceTokens.add(token);
  writing.callers.forget();
  writing.journal.append(context, entry, null, token);
  return { kind: 'done' };
};

const use: Apply<'token.use'> = ({ token, usedAt }, _context, { statements }) => {
  statements.run(
    'UPDATE service_token SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE number = ?',
    usedAt,
    token,
  );
  return { kind: 'done' };
};

/** How changes of service tokens are written. */
export const serviceTokenWrites: Writes<TokenChange['kind']> = {
  'token.add': { apply: add },
  'token.revoke': {
    check({ token }, statements) {
      const sql = 'SELECT 1 FROM service_token WHERE number = ? AND revoked_at IS NULL';
      if (statements.value(sql, token) === undefined)
        throw new Conflict(`service token ${token} does not exist or is revoked`);
    },
    apply: revoke,
  },
  'token.use': { apply: use },
};

/** The table of the keys that users sign in with: its columns, reads and writes. */
import { guardHolds, type PasskeyChange, type PasskeyRecord, type PasskeysGuard } from '../../domain/passkey.ts';
import { Conflict } from '../commit.ts';
import type { ComparedPasskey } from '../derived-passkeys.ts';
import type { Statements } from './statements.ts';
import { columnsOf, type Reads } from './tables.ts';
import type { Apply, Writes } from './writing.ts';

const compared: Record<keyof ComparedPasskey, 0> = {
  number: 0,
  owner: 0,
  name: 0,
  credentialId: 0,
  publicKey: 0,
  rpId: 0,
  aaguid: 0,
  createdAt: 0,
  removedAt: 0,
};
const fields: Record<keyof PasskeyRecord, 0> = {
  ...compared,
  transports: 0,
  signCount: 0,
  lastUsedAt: 0,
  version: 0,
  used: 0,
};

/** Selects what the journal says of each key. */
export const passkeyRows = `SELECT ${columnsOf(compared)} FROM passkey ORDER BY number`;

/** Whether the database has the table: one of an earlier version does not. */
export const storesPasskeys = (statements: Statements): boolean =>
  statements.value(`SELECT 1 FROM sqlite_schema WHERE name = 'passkey'`) !== undefined;

/** Both lists are stored as JSON. */
type Columns = Omit<PasskeyRecord, 'transports' | 'used'> & { readonly transports: string; readonly used: string };

const toRecord = (columns: Columns): PasskeyRecord => ({
  ...columns,
  transports: JSON.parse(columns.transports),
  used: JSON.parse(columns.used),
});

/** The reads of keys. */
export function passkeyReads(statements: Statements): Pick<Reads, 'passkey' | 'passkeyByCredential' | 'passkeysOf'> {
  const select = `SELECT ${columnsOf(fields)} FROM passkey WHERE`;
  const find = (column: string, value: unknown) => {
    const columns = statements.get<Columns>(`${select} ${column} = ?`, value);
    return columns === undefined ? null : toRecord(columns);
  };
  return {
    passkey: number => find('number', number),
    passkeyByCredential: credentialId => find('credential_id', credentialId),
    passkeysOf: owner =>
      statements.all<Columns>(`${select} owner = ? AND removed_at IS NULL ORDER BY number`, owner).map(toRecord),
  };
}

/** Throws `Conflict` if the guard does not hold. */
export function checkPasskeysGuard(statements: Statements, guard: PasskeysGuard): void {
  const sql = 'SELECT number FROM passkey WHERE owner = ? AND removed_at IS NULL ORDER BY number';
  const present = statements.all<{ number: number }>(sql, guard.owner).map(({ number }) => number);
  if (!guardHolds(guard, present)) throw new Conflict(`the keys of user ${guard.owner} were changed meanwhile`);
}

const add: Apply<'passkey.add'> = ({ passkey, entry }, context, writing) => {
  const number = writing.last.passkey + 1;
  const { changes } = writing.statements.run(
    `INSERT INTO passkey (number, owner, name, credential_id, public_key, rp_id, transports, aaguid, sign_count, created_at, version, used)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '[]') ON CONFLICT (credential_id) DO NOTHING`,
    number,
    passkey.owner,
    passkey.name,
    passkey.credentialId,
    passkey.publicKey,
    passkey.rpId,
    JSON.stringify(passkey.transports),
    passkey.aaguid,
    passkey.signCount,
    context.at,
  );
  if (changes === 0) {
    const sql = 'SELECT number FROM passkey WHERE credential_id = ?';
    return { kind: 'duplicate', number: writing.statements.value<number>(sql, passkey.credentialId)!, status: null };
  }
  writing.last.passkey = number;
  writing.journal.append(context, entry, null, number);
  return { kind: 'added', number };
};

/** How changes of keys are written. */
export const passkeyWrites: Writes<PasskeyChange['kind']> = {
  'passkey.add': { apply: add },
  'passkey.remove': {
    check({ passkey }, statements) {
      const sql = 'SELECT 1 FROM passkey WHERE number = ? AND removed_at IS NULL';
      if (statements.value(sql, passkey) === undefined)
        throw new Conflict(`passkey ${passkey} does not exist or is removed`);
    },
    apply({ passkey, entry }, context, writing) {
      writing.statements.run('UPDATE passkey SET removed_at = ? WHERE number = ?', context.at, passkey);
      writing.journal.append(context, entry, null, passkey);
      return { kind: 'done' };
    },
  },
  'passkey.use': {
    check({ passkey, before }, statements) {
      const sql = 'SELECT version FROM passkey WHERE number = ? AND removed_at IS NULL';
      if (statements.value<number>(sql, passkey) !== before)
        throw new Conflict(`passkey ${passkey} was used or removed meanwhile`);
    },
    apply({ passkey, before, signCount, usedAt, used }, _context, { statements }) {
      statements.run(
        'UPDATE passkey SET version = ?, sign_count = ?, last_used_at = ?, used = ? WHERE number = ?',
        before + 1,
        signCount,
        usedAt,
        JSON.stringify(used),
        passkey,
      );
      return { kind: 'done' };
    },
  },
};

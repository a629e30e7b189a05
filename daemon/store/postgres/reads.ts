/** The reads that take one look at a table or an index. */
import type { DeviceIdentity, DeviceRecord } from '../../domain/device.ts';
import type { JournalHead, Rows, Window } from '../queries.ts';
import type { Reader } from '../store.ts';
import { readDocument, readDocumentVersion } from './documents.ts';
import { readHasEvidence, readLatestProofs, readProof } from './proofs.ts';
import { readEvents } from './read-events.ts';
import type { Readers } from './readers.ts';
import { readResponse } from './responses.ts';
import { apps, backups, devices, passkeys, serviceTokens, type Table, users } from './tables.ts';
import { readProgress } from './webhooks.ts';

/** The reads of a store but lists of devices and statistics. */
export function tableReads(readers: Readers): Omit<Reader, 'devices' | 'statistics'> {
  const all = async <R extends object>(
    table: Table<R>,
    condition: string,
    values: readonly unknown[],
  ): Promise<R[]> => {
    const { rows } = await readers.run(`SELECT ${table.columns} FROM ${table.name} WHERE ${condition}`, values);
    return rows.map(row => table.toRecord(row));
  };
  const one = async <R extends object>(table: Table<R>, condition: string, value: unknown): Promise<R | null> =>
    (await all(table, condition, [value]))[0] ?? null;
  return {
    device: number => one(devices, 'number = $1', number),
    devicesBySerial: serials => devicesBySerial(readers, serials),
    user: number => one(users, 'number = $1', number),
    userByName: username => one(users, 'username = $1', username),
    users: window => pageOf(readers, users, window),
    admins: () => all(users, `role = 'ADMIN' AND NOT disabled ORDER BY number`, []),
    serviceToken: number => one(serviceTokens, 'number = $1', number),
    serviceTokenByDigest: sha256 => one(serviceTokens, 'sha256 = $1', sha256),
    serviceTokens: window => pageOf(readers, serviceTokens, window),
    passkey: number => one(passkeys, 'number = $1', number),
    passkeyByCredential: credentialId => one(passkeys, 'credential_id = $1', credentialId),
    passkeysOf: owner => all(passkeys, 'owner = $1 AND removed_at IS NULL ORDER BY number', [owner]),
    app: number => one(apps, 'number = $1', number),
    apps: ({ platform, ...window }) =>
      pageOf(readers, apps, window, platform && { column: 'platform', value: platform }),
    appsOf: platform => all(apps, 'platform = $1 ORDER BY number', [platform]),
    backup: number => one(backups, 'number = $1', number),
    backups: (device, window) => pageOf(readers, backups, window, { column: 'device', value: device }),
    proof: proofId => readProof(readers, proofId),
    latestProofs: serials => readLatestProofs(readers, serials),
    hasEvidence: (digest, besides) => readHasEvidence(readers, digest, besides),
    document: name => readDocument(readers, name),
    documentVersion: name => readDocumentVersion(readers, name),
    webhookProgress: webhook => readProgress(readers, webhook),
    response: (id, at) => readResponse(readers, id, at),
    events: filter => readEvents(readers, filter),
    async lastEventId() {
      return (await readers.run('SELECT event FROM head')).rows[0]!.event as number;
    },
    async journalHead(id) {
      const { rows } =
        id === undefined
          ? await readers.run('SELECT event AS id, mac FROM head WHERE event > 0')
          : await readers.run('SELECT id, mac FROM event WHERE id = $1', [id]);
      return (rows[0] as unknown as JournalHead | undefined) ?? null;
    },
    async knownBlobs(names) {
      const { rows } = await readers.run(
        'SELECT blob FROM app WHERE blob = ANY($1::text[]) UNION SELECT blob FROM backup WHERE blob = ANY($1::text[])',
        [names],
      );
      return new Set(rows.map(({ blob }) => blob as string));
    },
  };
}

async function devicesBySerial(readers: Readers, serials: readonly string[]) {
  if (serials.length === 0) return new Map();
  const sql = `SELECT serial_number AS "serialNumber", number, status, proof FROM device WHERE serial_number = ANY($1::text[])`;
  const { rows } = await readers.run(sql, [serials]);
  const found = rows as unknown as (DeviceIdentity & Pick<DeviceRecord, 'serialNumber'>)[];
  return new Map(found.map(({ serialNumber, ...identity }) => [serialNumber, identity]));
}

/** A page in order of creation, which is the order of numbers: times never go back. `only`: the rows with this value. */
async function pageOf<R extends object>(
  readers: Readers,
  { name, columns, toRecord }: Table<R>,
  { descending, offset, limit }: Window,
  only?: { readonly column: string; readonly value: string | number },
): Promise<Rows<R>> {
  const where = only ? `WHERE ${only.column} = $3` : '';
  const direction = descending ? 'DESC' : 'ASC';
  const { rows } = await readers.runOnce(
    `SELECT t.total, p.* FROM (SELECT count(*) AS total FROM ${name} ${where}) AS t LEFT JOIN
      (SELECT ${columns} FROM ${name} ${where} ORDER BY number ${direction} LIMIT $1 OFFSET $2) AS p ON true
     ORDER BY p.number ${direction}`,
    [limit, offset, ...(only ? [only.value] : [])],
  );
  return rowsOf(rows, toRecord);
}

/** Rows that have the total beside them; one row without a number if the page is empty. */
export function rowsOf<R>(
  rows: readonly Readonly<Record<string, unknown>>[],
  toRecord: (row: Readonly<Record<string, unknown>>) => R,
): Rows<R> {
  const records = rows.filter(({ number }) => number !== null).map(({ total: _, ...row }) => toRecord(row));
  return { rows: records, total: rows[0]!.total as number };
}

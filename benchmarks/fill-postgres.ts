/**
 * Registries of a given size in PostgreSQL: the server makes the rows of `sample`, because ten million would take hours through the
 * store.
 */
import type pg from 'pg';
import { countAllUsers } from '../daemon/store/postgres/migrations.ts';
import { BEGUN, DAY, knownUser, SEED } from './fill.ts';

/** The arithmetic of `spread` and of a product of 32 bits, in int8. */
const functions = `
CREATE FUNCTION pg_temp.imul(a int8, b int8) RETURNS int8 IMMUTABLE LANGUAGE sql AS $$
  SELECT ((a & 65535) * b + (((((a >> 16) * b) & 65535)) << 16)) & 4294967295 $$;
CREATE FUNCTION pg_temp.mixed(x int8) RETURNS int8 IMMUTABLE LANGUAGE sql AS $$ SELECT x # (x >> 16) $$;
CREATE FUNCTION pg_temp.unmixed(x int8) RETURNS int8 IMMUTABLE LANGUAGE sql AS $$ SELECT x # (x >> 13) $$;
CREATE FUNCTION pg_temp.spread(n int8) RETURNS int8 IMMUTABLE LANGUAGE sql AS $$
  SELECT pg_temp.mixed(pg_temp.imul(pg_temp.unmixed(pg_temp.imul(pg_temp.mixed(n), ${0x85ebca6b})), ${0xc2b2ae35})) $$;`;

/** The proof of a device, as text: one of fifty models, a grade, and for one in 250 an advisory. */
const proof = `json_build_object('proof', json_build_object(
    'grade', CASE WHEN random % 100 < 70 THEN 'claimed' WHEN random % 100 < 95 THEN 'model' WHEN random % 100 < 99 THEN 'unit' ELSE 'failed' END,
    'method', CASE WHEN random % 100 < 70 THEN 'claims' ELSE 'fido' END, 'model', NULL,
    'aaguid', '2fc0579f-8113-47ea-b116-' || lpad(((random / 100) % 50)::text, 12, '0'), 'firmware', '5.4.3', 'serial', NULL, 'root', NULL,
    'metadataNumber', NULL, 'provedAt', NULL, 'warnings', '[]'::json), 'rule', NULL,
  'advisories', CASE WHEN (random / 5000) % 250 = 0 THEN '["YSA-2024-03"]' ELSE '[]' END::json,
  'proofId', 'proof-' || n, 'answer', lpad(n::text, 64, '0'), 'hasEvidence', random % 100 >= 70)::text`;

/** One in twenty has a tag, one in four a proof; states, users and times are those of `addBatch`, as far as lists distinguish them. */
const insert = `
INSERT INTO device (number, device_type, serial_number, manufacturer, model, hardware_version, firmware_version, status, user_id, user_key,
  activation_code, activation_code_expires_at, created_at, activated_at, last_used_at, lock_reason, locked_at, deactivated_at, updated_at,
  usage_count, usage_seconds, backup_count, tags, proof)
SELECT n, CASE WHEN other & 128 <> 0 THEN 'UKEY' ELSE 'SIMKEY' END,
  CASE WHEN random % 10 < 7 THEN 'FT-2026-' ELSE 'YK5C-31-' END || upper(lpad(to_hex(random), 8, '0')),
  'Maker ' || (other >> 9) % 8, 'Model ' || (other >> 13) % 40, '1.0', '5.4.3',
  CASE WHEN share < 40 THEN 'INACTIVE' WHEN share < 85 THEN 'ACTIVE' WHEN share < 95 THEN 'LOCKED' ELSE 'DEACTIVATED' END,
  holder, holder,
  'BBBB-CCCC-DDDD-EEEE', at + ${365 * DAY}, at,
  CASE WHEN share >= 40 AND share < 95 THEN later END,
  CASE WHEN share >= 40 AND share < 85 AND share % 2 = 0 THEN later + other % ${100 * DAY} END,
  CASE WHEN share >= 85 AND share < 95 THEN 'lost' END,
  CASE WHEN share >= 85 AND share < 95 THEN later END,
  CASE WHEN share >= 95 THEN later END,
  CASE WHEN share >= 40 THEN later END,
  CASE WHEN share >= 40 AND share < 85 AND share % 2 = 0 THEN 1 ELSE 0 END, 0, 0,
  CASE WHEN n % 20 = 0 THEN 'site:site-' || random % 50 END,
  CASE WHEN n % 4 = 1 THEN ${proof} END
FROM (
  SELECT *, CASE WHEN share < 40 OR share >= 95 THEN NULL WHEN other % 18 = 0 THEN '${knownUser}' ELSE 'user-' || random % 5000 END AS holder FROM (
  SELECT n, random, other, other % 100 AS share, ${BEGUN} + n * 1000 AS at, ${BEGUN} + n * 1000 + random % ${90 * DAY} AS later
  FROM (SELECT n, pg_temp.spread(n) AS random, pg_temp.spread(n # ${SEED}) AS other FROM generate_series($1::int8, $2::int8) AS n OFFSET 0) AS a
  OFFSET 0) AS b) AS c`;

const counters = `
ANALYZE device;
INSERT INTO device_count (manufacturer, device_type, status, count)
  SELECT manufacturer, device_type, status, count(*) FROM device GROUP BY 1, 2, 3;
INSERT INTO registration_count (hour, count) SELECT created_at / 3600000, count(*) FROM device GROUP BY 1;
DELETE FROM device_key_count;
${countAllUsers}
UPDATE head SET device = (SELECT count(*) FROM device), at = greatest(at, (SELECT max(created_at) FROM device));`;

const CHUNK = 1_000_000;

/**
 * Fills the empty tables of a new registry; no daemon may use it at the same time. Indexes are made last: that takes a third of the
 * time.
 */
export async function fillPostgres(client: pg.Client, devices: number, tell: (done: number) => void): Promise<void> {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = 'device'::regclass AND NOT indisprimary
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
  );
  await client.query(functions);
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  for (let from = 1; from <= devices; from += CHUNK) {
    const to = Math.min(devices, from + CHUNK - 1);
    await client.query(insert, [from, to]);
    tell(to);
  }
  for (const { definition } of indexes) await client.query(definition);
  await client.query(counters);
  await client.query('VACUUM (ANALYZE)');
}

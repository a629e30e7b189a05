/** The steps that bring the schema up to date. A released step is never edited: a further change is a further step. */
import type { Migration } from '../schema.ts';
import { registry, schema, text } from './first-schema.ts';
import { keysBefore, listTables, modelBefore } from './list-tables.ts';
import { search } from './search-texts.ts';
import { tallies, tallyDevices } from './tallies.ts';

/**
 * Text that keywords are searched in: the id and the serial number with a line break between them, so that no match spans both. One
 * expression, because two indexes joined by OR are not used.
 */
export const searchText = `('dev-' || number || E'\\n' || lower(serial_number COLLATE "C"))`;

/** The index for keywords, which needs the extension pg_trgm. */
export const searchIndex = `CREATE INDEX device_search ON device USING gin (${searchText} gin_trgm_ops)`;

/** Devices of a user above which they are counted: those of other users are counted in their index. */
export const manyDevices = 300;

/** The key by which devices of a user are counted: the column with the user, in the table. */
interface UserCounts {
  readonly user: 'user_id' | 'user_key';
  readonly table: string;
}
/** Counts of the release before: its daemons counted by the exact name. */
const exactCounts: UserCounts = { user: 'user_id', table: 'device_user_count' };
const keyCounts: UserCounts = { user: 'user_key', table: 'device_key_count' };
const kindsOf = ({ user }: UserCounts) => `${user}, manufacturer, device_type, status`;

/** The statement that counts the devices of those of these users who have many. None of them may be counted yet. */
function countIn(counts: UserCounts, users: string): string {
  const { user, table } = counts;
  const kinds = kindsOf(counts);
  return `INSERT INTO ${table} (${kinds}, count)
    SELECT ${kinds}, count(*) FROM device WHERE ${user} IN (
      SELECT ${user} FROM (${users}) AS users
      WHERE (SELECT count(*) FROM (SELECT FROM device AS d WHERE d.${user} = users.${user} LIMIT ${manyDevices + 1}) AS counted) > ${manyDevices})
    GROUP BY ${kinds};`;
}
/** The statement for the users that `users` selects as `user_key`. */
const countUsers = (users: string): string => countIn(keyCounts, users);
export const countAllUsers = countUsers('SELECT DISTINCT user_key FROM device WHERE user_key IS NOT NULL');

/** The table of the counts, and the trigger that keeps them. */
function userCounts(counts: UserCounts, fn: string): string {
  const { user, table } = counts;
  const kinds = kindsOf(counts);
  return `
CREATE TABLE ${table} (
  ${user} ${text},
  manufacturer ${text},
  device_type ${text},
  status ${text},
  count int8 NOT NULL,
  PRIMARY KEY (${kinds})
) WITH (fillfactor = 50);
${countIn(counts, `SELECT DISTINCT ${user} FROM device`)}
CREATE FUNCTION ${fn}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM before WHERE ${user} IS NOT NULL) AND NOT EXISTS (SELECT FROM after WHERE ${user} IS NOT NULL) THEN
    RETURN NULL;
  END IF;
  INSERT INTO ${table} AS c (${kinds}, count)
    SELECT ${kinds}, sum(by) FROM (
      SELECT ${kinds}, -1 AS by FROM before UNION ALL SELECT ${kinds}, 1 FROM after) AS moved
    WHERE ${user} IN (SELECT ${user} FROM ${table})
    GROUP BY ${kinds} HAVING sum(by) <> 0
    ON CONFLICT (${kinds}) DO UPDATE SET count = c.count + excluded.count;
  ${countIn(counts, `SELECT ${user} FROM after EXCEPT SELECT ${user} FROM ${table}`)}
  RETURN NULL;
END $$;
CREATE TRIGGER device_users AFTER UPDATE ON device REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION ${fn}();
`;
}

/** Facts about the registry as a whole: which instance it is, and whether it is being copied. */
const meta = `CREATE TABLE meta (name ${text} PRIMARY KEY, value ${text} NOT NULL);`;

/**
 * Counters that nodes share: `used` of a window that ends at `ends_at`, and how much the last statement was granted. `blocked_until`
 * is that of wrong passwords. Times are milliseconds since 1970 by the clock of the server. Not logged: a crash of the server empties it.
 */
const counters = `
CREATE UNLOGGED TABLE counter (
  scope ${text},
  key ${text},
  used int8 NOT NULL,
  granted int8 NOT NULL,
  ends_at int8 NOT NULL,
  blocked_until int8 NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, key)
) WITH (fillfactor = 50);
CREATE INDEX counter_by_end ON counter (ends_at);
`;

/**
 * Counters and indexes for long lists. A trigger counts, because a daemon of the release before does not: it counts the devices of
 * those who have many, so that the table stays small. Users are never taken out of it.
 */
const largeLists = `
CREATE INDEX device_by_model ON device (model, number);
CREATE INDEX device_by_activation ON device (activated_at, number) WHERE activated_at IS NOT NULL;
CREATE INDEX device_by_last_use ON device (last_used_at, number) WHERE last_used_at IS NOT NULL;
CREATE INDEX device_by_update ON device (updated_at, number) WHERE updated_at IS NOT NULL;
CREATE INDEX device_codes ON device (activation_code_expires_at) WHERE status = 'INACTIVE';
-- The columns of the expression are included because the server counts in an index alone only if it has them.
CREATE INDEX device_unused ON device ((coalesce(last_used_at, activated_at))) INCLUDE (last_used_at, activated_at)
  WHERE status = 'ACTIVE';
${userCounts(exactCounts, 'count_devices_of_users')}ANALYZE device;
`;

/** Lists find devices by parts of the JSON. */
const proofs = `${schema.proofs}
CREATE INDEX device_by_proof ON device USING gin ((proof::jsonb) jsonb_path_ops) WHERE proof IS NOT NULL;
CREATE INDEX proof_pending ON proof (number) WHERE is_pending;
`;

const passkeys = `${schema.passkeys}
ALTER TABLE head ADD COLUMN passkey int8 NOT NULL DEFAULT 0;
`;

/**
 * Single-use codes of all nodes: see `SingleUseCodes`. `session` is what a code opens, as JSON. Times are by the clock of the
 * server. Not logged: a crash of the server empties it, and neither a standby nor a backup of the registry has it.
 */
const signInCodes = `
CREATE UNLOGGED TABLE sign_in_code (digest ${text} PRIMARY KEY, session ${text} NOT NULL, ends_at int8 NOT NULL);
CREATE INDEX sign_in_code_by_end ON sign_in_code (ends_at);
`;

/**
 * Requests of terminals: see `WaitingTerminals`. `login` is null until the request is approved. Times are by the clock of the server. Not
 * logged, as the single-use codes.
 */
const terminalLogins = `
CREATE UNLOGGED TABLE terminal_login (
  code ${text} PRIMARY KEY,
  number int8 GENERATED ALWAYS AS IDENTITY,
  terminal ${text} NOT NULL UNIQUE,
  network ${text} NOT NULL,
  shown ${text} NOT NULL,
  login ${text},
  ends_at int8 NOT NULL
);
CREATE INDEX terminal_login_waiting ON terminal_login (network, number) WHERE login IS NULL;
CREATE INDEX terminal_login_by_end ON terminal_login (ends_at);
`;

/** The index for keywords among persons, which needs the extension pg_trgm. */
export const personSearchIndex = 'CREATE INDEX IF NOT EXISTS person_search ON person USING gin (search gin_trgm_ops)';

/** Groups are found in an index of the JSON. */
const people = `
CREATE TABLE person (${schema.personColumns}
) WITH (fillfactor = 90);
${schema.peopleIndexes}${schema.leaverCounts}
CREATE INDEX person_by_group ON person USING gin ((groups::jsonb) jsonb_path_ops) WHERE groups <> '[]';
ALTER TABLE head ADD COLUMN person int8 NOT NULL DEFAULT 0;
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    EXECUTE '${personSearchIndex}';
  END IF;
END $$;
`;

const credentials = `${schema.credentials}
ALTER TABLE head ADD COLUMN credential int8 NOT NULL DEFAULT 0;
`;

/**
 * Daemons of the previous step count the devices of a user in their index, once `device_user_count` is empty. What they write is
 * bound by the next start of a daemon of this one.
 */
const personNumbers = `${schema.devicePersons}
ALTER TABLE person DROP CONSTRAINT person_user_key_key;
${schema.personNames}
CREATE FUNCTION key_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.user_key := lower(NEW.username);
  RETURN NEW;
END $$;
CREATE TRIGGER user_keyed BEFORE INSERT ON "user" FOR EACH ROW WHEN (NEW.user_key IS NULL) EXECUTE FUNCTION key_user();
DROP TRIGGER device_users ON device;
DELETE FROM device_user_count;
${userCounts(keyCounts, 'count_devices_of_keys')}
${keysBefore}
`;

/** Daemons of the previous step give a person another reason, and leave the former value beside it. */
const personEnders = `${schema.personEnders}
CREATE FUNCTION forget_ender() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.ended_by := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER person_ender BEFORE UPDATE ON person FOR EACH ROW
  WHEN (NEW.reason IS DISTINCT FROM OLD.reason AND NEW.ended_by = OLD.ended_by) EXECUTE FUNCTION forget_ender();
`;

const receipts = `${schema.receipts}
CREATE INDEX receipt_by_device ON receipt (device, number);
ALTER TABLE head ADD COLUMN receipt int8 NOT NULL DEFAULT 0;
`;

const identities = `${schema.identities}
ALTER TABLE head ADD COLUMN identity int8 NOT NULL DEFAULT 0;
`;

const holders = `${schema.shipments}
ALTER TABLE "user" DROP CONSTRAINT user_role_check;
ALTER TABLE "user" ADD CONSTRAINT user_role_check CHECK (role IN ('ADMIN', 'DEALER', 'VIEWER', 'HOLDER'));
`;

/** In order and without gaps. */
export const migrations: readonly Migration[] = [
  { number: 1, name: 'registry', sql: registry },
  { number: 2, name: 'meta', sql: meta },
  { number: 3, name: 'shared counters', sql: counters },
  { number: 4, name: 'large lists', sql: largeLists },
  // A daemon of the previous step keeps the proofs of devices: it writes columns by name.
  { number: 5, name: 'proofs', sql: proofs, readableBy: 4 },
  { number: 6, name: 'marks and earlier states', sql: listTables, readableBy: 4 },
  // A daemon of the previous step delivers nothing, and what it writes does not concern webhooks.
  { number: 7, name: 'webhooks', sql: schema.webhooks, readableBy: 4 },
  // A daemon of the previous step asks for passwords only: a policy of sign-ins holds when all daemons know this step.
  { number: 8, name: 'passkeys', sql: passkeys, readableBy: 4 },
  { number: 9, name: 'single-use codes', sql: signInCodes, readableBy: 4 },
  // A daemon of the previous step keeps requests of terminals elsewhere: one that it has made is approved there.
  { number: 10, name: 'requests of terminals', sql: terminalLogins, readableBy: 4 },
  // A daemon of the previous step looks at roles only: permissions hold when all daemons know this step.
  { number: 11, name: 'permissions of service tokens', sql: schema.tokenPermissions, readableBy: 4 },
  // A daemon of the previous step changes devices without raising their version: versions hold when all daemons know this step.
  { number: 12, name: 'versions of devices', sql: schema.deviceVersions, readableBy: 4 },
  { number: 13, name: 'tallies', sql: tallies, readableBy: 4 },
  // A daemon of the previous step knows no persons: it activates a device for one who has left.
  { number: 14, name: 'persons', sql: people, readableBy: 4 },
  // A daemon of the previous step knows no provider: it refuses the accounts, whose passwords it cannot read.
  { number: 15, name: 'sessions of single sign-on', sql: schema.ssoSessions, readableBy: 4 },
  { number: 16, name: 'indexes of persons', sql: schema.personIndexes, readableBy: 4 },
  { number: 17, name: 'models in earlier states', sql: modelBefore, readableBy: 4 },
  // A daemon of the previous step knows no credentials: another one removes those of the devices that it locks.
  { number: 18, name: 'credentials', sql: credentials, readableBy: 4 },
  // A daemon of the previous step knows no receipts: it neither announces nor closes loans.
  { number: 19, name: 'receipts', sql: receipts, readableBy: 4 },
  // A daemon of the previous step forgets a credential whose answer was lost: idp reconcile finds it.
  { number: 20, name: 'uncertain credentials', sql: schema.uncertainCredentials, readableBy: 4 },
  // A daemon of the previous step refuses the whole request and lists nothing.
  { number: 21, name: 'refused requests', sql: schema.refusedRequests, readableBy: 4 },
  // A daemon of the previous step begins credentials without a digest: they are proved as those before.
  { number: 22, name: 'salts of credentials', sql: schema.credentialSalts, readableBy: 4 },
  // A daemon of the previous step moves devices by their names: persons are not renamed before all daemons know this step.
  { number: 23, name: 'persons of devices', sql: personNumbers, readableBy: 4 },
  // A daemon of the previous step accepts the tokens of disabled accounts, and creates tokens without an owner: it is their creator.
  { number: 24, name: 'owners of service tokens', sql: schema.tokenOwners, readableBy: 4 },
  // A daemon of the previous step gives every new user name at once.
  { number: 25, name: 'new user names that wait', sql: schema.pendingNames, readableBy: 4 },
  { number: 26, name: 'tallies of many devices', sql: tallyDevices, readableBy: 4 },
  // A daemon of the previous step stores a reason alone, which then decides.
  { number: 27, name: 'who has ended persons', sql: personEnders, readableBy: 4 },
  // A daemon of the previous step knows no identities: a reset that it records leaves the credential, which the key then lacks.
  { number: 28, name: 'identities of keys', sql: identities, readableBy: 4 },
  // A daemon of the previous step opens no case: a repeated leave does.
  { number: 29, name: 'cases of leavers', sql: schema.leaverCases, readableBy: 4 },
  { number: 30, name: 'entries about subjects', sql: schema.entriesOfSubjects, readableBy: 4 },
  { number: 31, name: 'ids of credentials', sql: schema.credentialIds, readableBy: 4 },
  // A daemon of the previous step lets no HOLDER do anything, and a receipt that it stores leaves a device on its way.
  { number: 32, name: 'holders and shipments', sql: holders, readableBy: 4 },
  { number: 33, name: 'entries beside devices', sql: schema.entriesBesideDevices, readableBy: 4 },
  { number: 34, name: 'texts of the search', sql: search, readableBy: 4 },
  // A daemon of the previous step removes the SSH keys of devices that are locked: they have to be issued again.
  { number: 35, name: 'SSH keys', sql: schema.sshKeys, readableBy: 4 },
  { number: 36, name: 'shipments on their way', sql: schema.shipmentsOnTheirWay, readableBy: 4 },
];

/** The steps that bring the schema of a database up to date. A released step is never edited: a further change is a further step. */
import { type Migration, schemaIn } from '../schema.ts';
import { countedTagList, makeTallies, type TallyDialect } from '../write/tallies.ts';

/** Marks a database as one of devmgr ('DvMg'), so that a database of another program is not mistaken for one. */
export const applicationId = 0x44764d67;

const schema = schemaIn({
  integer: 'INTEGER',
  text: 'TEXT',
  bytes: 'BLOB',
  boolean: 'INTEGER',
  assigned: 'INTEGER',
  user: 'user',
  end: ' STRICT',
  initial: value => ` DEFAULT ${value}`,
  truth: column => ` CHECK (${column} IN (0, 1))`,
});

/** The registry, its counters and its journal. */
const registry = `
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE user (${schema.userColumns}
) STRICT;
CREATE INDEX user_by_creation ON user (created_at, number);
CREATE INDEX user_enabled_admin ON user (number) WHERE role = 'ADMIN' AND disabled = 0;

CREATE TABLE device (${schema.deviceColumns}
) STRICT;
${schema.devicesOfUsers}

CREATE TABLE device_count (
  manufacturer TEXT NOT NULL,
  device_type TEXT NOT NULL,
  status TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count >= 0),
  PRIMARY KEY (manufacturer, device_type, status)
) STRICT, WITHOUT ROWID;

${schema.apps}
CREATE INDEX app_by_creation ON app (created_at, number);
${schema.backups}
CREATE INDEX backup_by_device ON backup (device, created_at, number);
${schema.events}
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
BEGIN
  SELECT raise(ABORT, 'entries of the journal are never changed');
END;
CREATE TRIGGER event_is_never_removed BEFORE DELETE ON event
BEGIN
  SELECT raise(ABORT, 'entries of the journal are never removed');
END;
`;

const serviceTokens = `${schema.serviceTokens}
CREATE INDEX service_token_by_creation ON service_token (created_at, number);`;

/** Tags: `device.tags` is a JSON object, NULL if there are none; `device_tag` has the same tags for lists that filter by them. */
const tags = `
ALTER TABLE device ADD COLUMN tags TEXT;
CREATE TABLE device_tag (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  device INTEGER NOT NULL REFERENCES device (number),
  PRIMARY KEY (name, value, device)
) STRICT, WITHOUT ROWID;
`;

/** `device_mark` has what lists find the proofs of devices by. */
const proofs = `${schema.proofs}
CREATE INDEX proof_pending ON proof (number) WHERE is_pending = 1;
CREATE TABLE device_mark (
  mark TEXT NOT NULL,
  device INTEGER NOT NULL REFERENCES device (number),
  PRIMARY KEY (mark, device)
) STRICT, WITHOUT ROWID;
`;

/** How SQLite writes what tallies are made from. */
export const tallyDialect: TallyDialect = {
  before: `detail ->> '$.before'`,
  lineBreak: 'char(10)',
  tags: `SELECT tag.key AS name, tag.value AS value, status
    FROM device, json_each(CASE WHEN json_valid(tags) THEN tags END) AS tag WHERE tag.key IN (${countedTagList})`,
  advisories: `SELECT DISTINCT advisory.value AS value, status, number
    FROM device, json_each(CASE WHEN json_valid(proof) THEN proof END, '$.advisories') AS advisory`,
};

/** How many devices have a value in common: see `Tally`. */
const tallies = `
CREATE TABLE tally (
  subject TEXT NOT NULL,
  value TEXT NOT NULL,
  status TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (subject, value, status)
) STRICT, WITHOUT ROWID;
${makeTallies(tallyDialect)}
`;

const personGroups = `
CREATE INDEX person_by_search ON person (search);
CREATE TRIGGER person_added AFTER INSERT ON person WHEN new.groups <> '[]' BEGIN
  INSERT INTO person_group (grp, person) SELECT value, new.number FROM json_each(new.groups);
END;
CREATE TRIGGER person_changed AFTER UPDATE OF groups ON person WHEN new.groups <> old.groups BEGIN
  DELETE FROM person_group WHERE person = old.number AND grp IN (SELECT value FROM json_each(old.groups));
  INSERT INTO person_group (grp, person) SELECT value, new.number FROM json_each(new.groups);
END;
`;

/** The groups that each person is in. Triggers keep them, so that a copied registry has them too. */
const people = `
CREATE TABLE person (${schema.personColumns}
) STRICT;
${schema.peopleIndexes}${schema.leaverCounts}
CREATE TABLE person_group (grp INTEGER NOT NULL, person INTEGER NOT NULL, PRIMARY KEY (grp, person)) STRICT, WITHOUT ROWID;
${personGroups}`;

/** SQLite drops a constraint of a column only with its table. */
const personNumbers = `${schema.devicePersons}
DROP INDEX device_by_user;
CREATE TABLE person_before AS SELECT * FROM person;
DROP TABLE person;
CREATE TABLE person (${schema.personColumns.replace('user_key TEXT NOT NULL UNIQUE', 'user_key TEXT NOT NULL')}
) STRICT;
INSERT INTO person SELECT * FROM person_before ORDER BY number;
DROP TABLE person_before;
${schema.peopleIndexes}
${personGroups}
${schema.personIndexes}
${schema.personNames}`;

/** Accounts with the role HOLDER. The rows that refer to accounts are checked when the table is back. */
const holders = `${schema.shipments}
PRAGMA defer_foreign_keys = ON;
CREATE TABLE user_before AS SELECT * FROM user;
DROP TABLE user;
CREATE TABLE user (${schema.userColumns.replace("'VIEWER'", "'VIEWER', 'HOLDER'")},
  user_key TEXT
) STRICT;
INSERT INTO user SELECT * FROM user_before ORDER BY number;
DROP TABLE user_before;
CREATE INDEX user_by_creation ON user (created_at, number);
CREATE INDEX user_enabled_admin ON user (number) WHERE role = 'ADMIN' AND disabled = 0;
CREATE INDEX user_by_key ON user (user_key);
`;

const receipts = `${schema.receipts}
CREATE INDEX receipt_by_device ON receipt (device, created_at, number);`;

/**
 * What `search_text` has, from the rows: each user, tag, note and name of a person, in NFC and lower case. `key` leads to the devices: the
 * key of the user, the tag, the number of the device or of the person.
 */
export const searchTexts = `
  SELECT 'user' AS kind, user_key AS key, user_key AS text FROM device WHERE user_key IS NOT NULL GROUP BY user_key
  UNION ALL SELECT 'tag', line, search_fold(line) FROM (
    SELECT DISTINCT tag.key || ':' || tag.value AS line
    FROM device, json_each(CASE WHEN json_valid(tags) THEN tags END) AS tag WHERE tags IS NOT NULL)
  UNION ALL SELECT 'note', CAST(number AS TEXT), search_fold(note) FROM device WHERE note IS NOT NULL
  UNION ALL SELECT 'name', CAST(number AS TEXT), search_fold(name) FROM person WHERE name IS NOT NULL`;

/** `search_trigram` finds parts of the texts. What is deleted leaves nothing in it: an erasure must not. */
const search = `
CREATE TABLE IF NOT EXISTS search_text (
  number INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (kind, key)
) STRICT;
INSERT OR IGNORE INTO search_text (kind, key, text) ${searchTexts};
CREATE VIRTUAL TABLE IF NOT EXISTS search_trigram USING fts5(
  text, content = 'search_text', content_rowid = 'number', columnsize = 0, tokenize = 'trigram case_sensitive 1');
INSERT INTO search_trigram (search_trigram, rank) VALUES ('secure-delete', 1);
INSERT INTO search_trigram (search_trigram) VALUES ('rebuild');
CREATE TRIGGER IF NOT EXISTS search_text_added AFTER INSERT ON search_text BEGIN
  INSERT INTO search_trigram (rowid, text) VALUES (new.number, new.text);
END;
CREATE TRIGGER IF NOT EXISTS search_text_changed AFTER UPDATE OF text ON search_text BEGIN
  INSERT INTO search_trigram (search_trigram, rowid, text) VALUES ('delete', old.number, old.text);
  INSERT INTO search_trigram (rowid, text) VALUES (new.number, new.text);
END;
CREATE TRIGGER IF NOT EXISTS search_text_removed AFTER DELETE ON search_text BEGIN
  INSERT INTO search_trigram (search_trigram, rowid, text) VALUES ('delete', old.number, old.text);
END;
`;

/** In order and without gaps. */
export const migrations: readonly Migration[] = [
  { number: 1, name: 'registry', sql: registry },
  { number: 2, name: 'service tokens', sql: serviceTokens },
  { number: 3, name: 'events of devices', sql: schema.eventsOfDevices },
  { number: 4, name: 'tags', sql: tags },
  { number: 5, name: 'responses', sql: schema.responses },
  { number: 6, name: 'proofs', sql: proofs },
  { number: 7, name: 'webhooks', sql: schema.webhooks },
  { number: 8, name: 'passkeys', sql: schema.passkeys },
  { number: 9, name: 'permissions of service tokens', sql: schema.tokenPermissions },
  { number: 10, name: 'versions of devices', sql: schema.deviceVersions },
  { number: 11, name: 'tallies', sql: tallies },
  { number: 12, name: 'persons', sql: people },
  { number: 13, name: 'sessions of single sign-on', sql: schema.ssoSessions },
  { number: 14, name: 'indexes of persons', sql: schema.personIndexes },
  { number: 15, name: 'credentials', sql: schema.credentials },
  { number: 16, name: 'receipts', sql: receipts },
  { number: 17, name: 'uncertain credentials', sql: schema.uncertainCredentials },
  { number: 18, name: 'refused requests', sql: schema.refusedRequests },
  { number: 19, name: 'salts of credentials', sql: schema.credentialSalts },
  { number: 20, name: 'persons of devices', sql: personNumbers },
  { number: 21, name: 'owners of service tokens', sql: schema.tokenOwners },
  { number: 22, name: 'new user names that wait', sql: schema.pendingNames },
  { number: 23, name: 'who has ended persons', sql: schema.personEnders },
  { number: 24, name: 'identities of keys', sql: schema.identities },
  { number: 25, name: 'cases of leavers', sql: schema.leaverCases },
  { number: 26, name: 'entries about subjects', sql: schema.entriesOfSubjects },
  { number: 27, name: 'ids of credentials', sql: schema.credentialIds },
  { number: 28, name: 'holders and shipments', sql: holders },
  { number: 29, name: 'entries beside devices', sql: schema.entriesBesideDevices },
  { number: 30, name: 'texts of the search', sql: search },
  { number: 31, name: 'SSH keys', sql: schema.sshKeys },
  { number: 32, name: 'shipments on their way', sql: schema.shipmentsOnTheirWay },
];

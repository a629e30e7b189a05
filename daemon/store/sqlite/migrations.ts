/** The steps that bring the schema of a database up to date. A released step is never edited: a further change is a further step. */
import { countedTagList, makeTallies, type TallyDialect } from '../write/tallies.ts';

/** Marks a database as one of devmgr ('DvMg'), so that a database of another program is not mistaken for one. */
export const applicationId = 0x44764d67;

/** A step from one version of the schema to the next. `number` is the version after it. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** The registry, its counters and its journal. */
const registry = `
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE user (
  number INTEGER PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('ADMIN', 'DEALER', 'VIEWER')),
  email TEXT,
  disabled INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  created_at INTEGER NOT NULL,
  token_epoch INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX user_by_creation ON user (created_at, number);
CREATE INDEX user_enabled_admin ON user (number) WHERE role = 'ADMIN' AND disabled = 0;

CREATE TABLE device (
  number INTEGER PRIMARY KEY,
  device_type TEXT NOT NULL CHECK (device_type IN ('UKEY', 'SIMKEY')),
  serial_number TEXT NOT NULL UNIQUE,
  manufacturer TEXT NOT NULL,
  model TEXT NOT NULL,
  hardware_version TEXT,
  firmware_version TEXT,
  status TEXT NOT NULL DEFAULT 'INACTIVE' CHECK (status IN ('INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED')),
  user_id TEXT,
  activation_code TEXT NOT NULL,
  activation_code_expires_at INTEGER NOT NULL,
  note TEXT,
  created_at INTEGER NOT NULL,
  activated_at INTEGER,
  last_used_at INTEGER,
  lock_reason TEXT,
  locked_at INTEGER,
  deactivated_at INTEGER,
  updated_at INTEGER,
  usage_count INTEGER NOT NULL DEFAULT 0,
  usage_seconds INTEGER NOT NULL DEFAULT 0,
  backup_count INTEGER NOT NULL DEFAULT 0,
  last_backup_at INTEGER
) STRICT;
CREATE INDEX device_by_user ON device (user_id, number) WHERE user_id IS NOT NULL;

CREATE TABLE device_count (
  manufacturer TEXT NOT NULL,
  device_type TEXT NOT NULL,
  status TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count >= 0),
  PRIMARY KEY (manufacturer, device_type, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE app (
  number INTEGER PRIMARY KEY,
  platform TEXT NOT NULL,
  version TEXT NOT NULL,
  version_name TEXT,
  changelog TEXT,
  force_update INTEGER NOT NULL CHECK (force_update IN (0, 1)),
  min_support_version TEXT,
  file_name TEXT NOT NULL,
  extension TEXT NOT NULL,
  file_size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  uploaded_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  blob TEXT NOT NULL,
  UNIQUE (platform, version, extension)
) STRICT;
CREATE INDEX app_by_creation ON app (created_at, number);
CREATE INDEX app_by_blob ON app (blob);

CREATE TABLE backup (
  number INTEGER PRIMARY KEY,
  device INTEGER NOT NULL REFERENCES device (number),
  file_name TEXT NOT NULL,
  file_size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  note TEXT,
  created_at INTEGER NOT NULL,
  blob TEXT NOT NULL
) STRICT;
CREATE INDEX backup_by_device ON backup (device, created_at, number);
CREATE INDEX backup_by_blob ON backup (blob);

CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  device INTEGER,
  subject INTEGER,
  actor TEXT,
  request_id TEXT,
  data TEXT NOT NULL,
  detail TEXT NOT NULL,
  mac TEXT NOT NULL
) STRICT;
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
BEGIN
  SELECT raise(ABORT, 'entries of the journal are never changed');
END;
CREATE TRIGGER event_is_never_removed BEFORE DELETE ON event
BEGIN
  SELECT raise(ABORT, 'entries of the journal are never removed');
END;
`;

/** Tokens of programs. `allowed_from` is a JSON array of CIDRs, null for any address. */
const serviceTokens = `
CREATE TABLE service_token (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('ADMIN', 'DEALER', 'VIEWER')),
  sha256 TEXT NOT NULL UNIQUE,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER,
  allowed_from TEXT
) STRICT;
CREATE UNIQUE INDEX service_token_by_name ON service_token (name) WHERE revoked_at IS NULL;
CREATE INDEX service_token_by_creation ON service_token (created_at, number);
`;
/** The history of one device without a walk through the whole journal. */
const eventsOfDevices = `CREATE INDEX event_by_device ON event (device, id) WHERE device IS NOT NULL;`;

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

/** Responses to requests with an idempotency key. `number` ascends in the order in which they were stored. */
const responses = `
CREATE TABLE response (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  holder TEXT NOT NULL,
  digest TEXT NOT NULL,
  status INTEGER NOT NULL,
  body BLOB NOT NULL,
  size INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX response_by_expiry ON response (expires_at);
CREATE INDEX response_large ON response (holder, number, size) WHERE size >= 4096;
`;

/**
 * Proofs of keys. `device.proof` is JSON, NULL without a proof; `device_mark` has what lists find them by. `proof` has the answers to
 * challenges; `is_pending`: its serial number was not registered when it was last looked at. `document`: settings that the journal proves.
 */
const proofs = `
ALTER TABLE device ADD COLUMN proof TEXT;
CREATE TABLE device_mark (
  mark TEXT NOT NULL,
  device INTEGER NOT NULL REFERENCES device (number),
  PRIMARY KEY (mark, device)
) STRICT, WITHOUT ROWID;
CREATE TABLE proof (
  number INTEGER PRIMARY KEY,
  proof_id TEXT NOT NULL UNIQUE,
  serial_number TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  received_by TEXT,
  registry_id TEXT NOT NULL,
  challenge TEXT NOT NULL,
  ephemeral_key TEXT NOT NULL,
  described TEXT,
  claims TEXT NOT NULL,
  evidence TEXT,
  evidence_digest TEXT,
  proof TEXT NOT NULL,
  is_pending INTEGER NOT NULL CHECK (is_pending IN (0, 1))
) STRICT;
CREATE INDEX proof_by_serial ON proof (serial_number, number);
CREATE INDEX proof_by_evidence ON proof (evidence_digest) WHERE evidence_digest IS NOT NULL;
CREATE INDEX proof_pending ON proof (number) WHERE is_pending = 1;
CREATE TABLE document (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  value TEXT NOT NULL
) STRICT;
`;

/** The progress of each endpoint of a webhook, as JSON; `number` is that of the endpoint. */
const webhooks = `
CREATE TABLE webhook_progress (
  number INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  progress TEXT NOT NULL
) STRICT;
`;

/** The keys that users sign in with. `transports` and `used` are JSON. */
const passkeys = `
CREATE TABLE passkey (
  number INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL REFERENCES user (number),
  name TEXT NOT NULL,
  credential_id TEXT NOT NULL UNIQUE,
  public_key TEXT NOT NULL,
  rp_id TEXT NOT NULL,
  transports TEXT NOT NULL,
  aaguid TEXT NOT NULL,
  sign_count INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  removed_at INTEGER,
  version INTEGER NOT NULL,
  used TEXT NOT NULL
) STRICT;
CREATE INDEX passkey_by_owner ON passkey (owner, number);
`;

/** What service tokens may do besides what their role allows: a JSON array, empty for those of earlier versions. */
const tokenPermissions = `ALTER TABLE service_token ADD COLUMN may TEXT NOT NULL DEFAULT '[]';`;

/** The version of each device, from 1: it rises with changes. */
const deviceVersions = `ALTER TABLE device ADD COLUMN version INTEGER NOT NULL DEFAULT 1;`;

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

/**
 * Persons, the groups that each is in, and what leavers did within the last minutes. Times are milliseconds since 1970; `names`, `groups` and
 * `counts` are JSON. Triggers keep the groups, so that a copied registry has them too.
 */
const people = `
CREATE TABLE person (
  number INTEGER PRIMARY KEY,
  user_name TEXT NOT NULL,
  user_key TEXT NOT NULL UNIQUE,
  name TEXT,
  names TEXT,
  email TEXT,
  external_id TEXT,
  active INTEGER NOT NULL,
  groups TEXT NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  left_at INTEGER,
  held_at INTEGER,
  due_at INTEGER,
  reason TEXT,
  removed_at INTEGER,
  version INTEGER NOT NULL,
  salt TEXT NOT NULL,
  search TEXT NOT NULL
) STRICT;
CREATE INDEX person_by_source ON person (source, number);
CREATE INDEX person_by_state ON person (active, number);
CREATE INDEX person_by_external_id ON person (external_id, number) WHERE external_id IS NOT NULL;
CREATE INDEX person_held ON person (held_at, number) WHERE held_at IS NOT NULL;
CREATE INDEX person_due ON person (due_at, number) WHERE due_at IS NOT NULL;
CREATE INDEX person_by_search ON person (search);
CREATE TABLE person_group (grp INTEGER NOT NULL, person INTEGER NOT NULL, PRIMARY KEY (grp, person)) STRICT, WITHOUT ROWID;
CREATE TRIGGER person_added AFTER INSERT ON person WHEN new.groups <> '[]' BEGIN
  INSERT INTO person_group (grp, person) SELECT value, new.number FROM json_each(new.groups);
END;
CREATE TRIGGER person_changed AFTER UPDATE OF groups ON person WHEN new.groups <> old.groups BEGIN
  DELETE FROM person_group WHERE person = old.number AND grp IN (SELECT value FROM json_each(old.groups));
  INSERT INTO person_group (grp, person) SELECT value, new.number FROM json_each(new.groups);
END;
CREATE TABLE leaver_count (number INTEGER PRIMARY KEY, counts TEXT NOT NULL) STRICT;
`;

/** The sessions of users that came from the provider of single sign-on, as JSON; `number` is that of the user. */
const ssoSessions = `
CREATE TABLE sso_session (
  number INTEGER PRIMARY KEY REFERENCES user (number),
  version INTEGER NOT NULL,
  sessions TEXT NOT NULL
) STRICT;
`;

/** Lists of persons count and skip in these indexes alone. */
const personIndexes = `
CREATE INDEX person_present ON person (number) WHERE removed_at IS NULL;
CREATE INDEX person_by_source_and_state ON person (source, active, number);
`;

/** Credentials of devices at providers. Times are milliseconds since 1970. */
const credentials = `
CREATE TABLE credential (
  number INTEGER PRIMARY KEY,
  device INTEGER NOT NULL REFERENCES device (number),
  provider INTEGER NOT NULL,
  account TEXT NOT NULL,
  label TEXT NOT NULL,
  begun TEXT,
  credential_id TEXT,
  remote_id TEXT,
  created_at INTEGER NOT NULL,
  issued_at INTEGER,
  removed_at INTEGER,
  version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX credential_of_device ON credential (device, provider) WHERE removed_at IS NULL;
CREATE INDEX credential_by_device ON credential (device, number);
CREATE INDEX credential_at_provider ON credential (provider, number);
CREATE INDEX credential_of_account ON credential (provider, account);
CREATE INDEX credential_open ON credential (number) WHERE removed_at IS NULL;
`;

/** A device has one credential at a provider, beside those that were given up. */
const uncertainCredentials = `
ALTER TABLE credential ADD COLUMN uncertain_at INTEGER;
DROP INDEX credential_of_device;
CREATE UNIQUE INDEX credential_of_device ON credential (device, provider) WHERE uncertain_at IS NULL AND removed_at IS NULL;
`;

/** Receipts that keys have signed. */
const receipts = `
CREATE TABLE receipt (
  number INTEGER PRIMARY KEY,
  receipt_id TEXT NOT NULL UNIQUE,
  device INTEGER NOT NULL REFERENCES device (number),
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  authenticator_data TEXT NOT NULL,
  signature TEXT NOT NULL,
  public_key TEXT NOT NULL,
  proof TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  open_until INTEGER,
  announce_at INTEGER,
  closed_by INTEGER
) STRICT;
CREATE INDEX receipt_by_device ON receipt (device, created_at, number);
CREATE INDEX receipt_open ON receipt (open_until) WHERE open_until IS NOT NULL;
CREATE INDEX receipt_announce ON receipt (announce_at) WHERE announce_at IS NOT NULL;
`;

/** In order and without gaps. */
export const migrations: readonly Migration[] = [
  { number: 1, name: 'registry', sql: registry },
  { number: 2, name: 'service tokens', sql: serviceTokens },
  { number: 3, name: 'events of devices', sql: eventsOfDevices },
  { number: 4, name: 'tags', sql: tags },
  { number: 5, name: 'responses', sql: responses },
  { number: 6, name: 'proofs', sql: proofs },
  { number: 7, name: 'webhooks', sql: webhooks },
  { number: 8, name: 'passkeys', sql: passkeys },
  { number: 9, name: 'permissions of service tokens', sql: tokenPermissions },
  { number: 10, name: 'versions of devices', sql: deviceVersions },
  { number: 11, name: 'tallies', sql: tallies },
  { number: 12, name: 'persons', sql: people },
  { number: 13, name: 'sessions of single sign-on', sql: ssoSessions },
  { number: 14, name: 'indexes of persons', sql: personIndexes },
  { number: 15, name: 'credentials', sql: credentials },
  { number: 16, name: 'receipts', sql: receipts },
  { number: 17, name: 'uncertain credentials', sql: uncertainCredentials },
];

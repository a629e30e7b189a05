/** The steps that bring the schema of a database up to date. A released step is never edited: a further change is a further step. */

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
];

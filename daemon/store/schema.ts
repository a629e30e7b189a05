/** The steps that bring a schema up to date, and in SQL what they have in common in all engines. A released step is never edited. */

/** A step from one version of the schema to the next. `number` is the version after it. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  /**
   * For an engine with several handles: the oldest version whose programs can use the schema after this step, because it only adds what
   * they need not know. Such daemons keep running during the step. If absent, only programs that know the step can use the schema, and all
   * others must be stopped.
   */
  readonly readableBy?: number;
}

/**
 * Condition of the index of the few entries that are neither about devices nor about what happens all the time. Each engine uses the
 * index only for a query with these same words.
 */
export const besideDevices = `device IS NULL AND type NOT IN ('LOGIN_SUCCEEDED', 'LOGIN_FAILED', 'OPERATION_REFUSED', 'CONFIRMATION_FAILED', 'PACKAGE_DOWNLOADED')`;

/** How an engine writes what is common: the words in braces of the statements, some of which are followed by an operand. */
interface SchemaDialect {
  readonly integer: string;
  readonly text: string;
  readonly bytes: string;
  readonly boolean: string;
  /** The type of a number that the engine assigns. */
  readonly assigned: string;
  /** The name of the table of users. */
  readonly user: string;
  /** SQL after the columns of a table. */
  readonly end: string;
  /** The initial value of a column, in an engine that adds rows without it. */
  readonly initial: (value: string) => string;
  /** The condition of a column that is true or false. */
  readonly truth: (column: string) => string;
}

/**
 * The statements of the steps that are the same in all engines, by what they are about; for tables with more columns or other
 * options in one of them, the columns alone. Times are milliseconds since 1970.
 */
const statements = {
  userColumns: `
  number {integer} PRIMARY KEY,
  username {text} NOT NULL UNIQUE,
  password_hash {text} NOT NULL,
  role {text} NOT NULL CHECK (role IN ('ADMIN', 'DEALER', 'VIEWER')),
  email {text},
  disabled {boolean} NOT NULL{truth disabled},
  created_at {integer} NOT NULL,
  token_epoch {integer} NOT NULL{initial 0}`,

  deviceColumns: `
  number {integer} PRIMARY KEY,
  device_type {text} NOT NULL CHECK (device_type IN ('UKEY', 'SIMKEY')),
  serial_number {text} NOT NULL UNIQUE,
  manufacturer {text} NOT NULL,
  model {text} NOT NULL,
  hardware_version {text},
  firmware_version {text},
  status {text} NOT NULL{initial 'INACTIVE'} CHECK (status IN ('INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED')),
  user_id {text},
  activation_code {text} NOT NULL,
  activation_code_expires_at {integer} NOT NULL,
  note {text},
  created_at {integer} NOT NULL,
  activated_at {integer},
  last_used_at {integer},
  lock_reason {text},
  locked_at {integer},
  deactivated_at {integer},
  updated_at {integer},
  usage_count {integer} NOT NULL{initial 0},
  usage_seconds {integer} NOT NULL{initial 0},
  backup_count {integer} NOT NULL{initial 0},
  last_backup_at {integer}`,
  devicesOfUsers: 'CREATE INDEX device_by_user ON device (user_id, number) WHERE user_id IS NOT NULL;',

  apps: `
CREATE TABLE app (
  number {integer} PRIMARY KEY,
  platform {text} NOT NULL,
  version {text} NOT NULL,
  version_name {text},
  changelog {text},
  force_update {boolean} NOT NULL{truth force_update},
  min_support_version {text},
  file_name {text} NOT NULL,
  extension {text} NOT NULL,
  file_size {integer} NOT NULL,
  sha256 {text} NOT NULL,
  uploaded_by {text} NOT NULL,
  created_at {integer} NOT NULL,
  blob {text} NOT NULL,
  UNIQUE (platform, version, extension)
){end};
CREATE INDEX app_by_blob ON app (blob);
`,

  backups: `
CREATE TABLE backup (
  number {integer} PRIMARY KEY,
  device {integer} NOT NULL REFERENCES device (number),
  file_name {text} NOT NULL,
  file_size {integer} NOT NULL,
  sha256 {text} NOT NULL,
  note {text},
  created_at {integer} NOT NULL,
  blob {text} NOT NULL
){end};
CREATE INDEX backup_by_blob ON backup (blob);
`,

  events: `
CREATE TABLE event (
  id {integer} PRIMARY KEY,
  at {integer} NOT NULL,
  type {text} NOT NULL,
  device {integer},
  subject {integer},
  actor {text},
  request_id {text},
  data {text} NOT NULL,
  detail {text} NOT NULL,
  mac {text} NOT NULL
){end};
`,
  /** The history of one device without a walk through the whole journal. */
  eventsOfDevices: 'CREATE INDEX event_by_device ON event (device, id) WHERE device IS NOT NULL;',

  /** Tokens of programs. `allowed_from` is a JSON array of CIDRs, null for any address. */
  serviceTokens: `
CREATE TABLE service_token (
  number {integer} PRIMARY KEY,
  name {text} NOT NULL,
  role {text} NOT NULL CHECK (role IN ('ADMIN', 'DEALER', 'VIEWER')),
  sha256 {text} NOT NULL UNIQUE,
  created_by {text} NOT NULL,
  created_at {integer} NOT NULL,
  expires_at {integer} NOT NULL,
  last_used_at {integer},
  revoked_at {integer},
  allowed_from {text}
){end};
CREATE UNIQUE INDEX service_token_by_name ON service_token (name) WHERE revoked_at IS NULL;
`,
  /** Permissions of service tokens beside those of their role: a JSON array, empty for those of earlier versions. */
  tokenPermissions: `ALTER TABLE service_token ADD COLUMN may {text} NOT NULL DEFAULT '[]';`,

  /** The user with whose account a service token ends. Null if no user has the name of its creator. */
  tokenOwners: `
ALTER TABLE service_token ADD COLUMN owner {integer};
UPDATE service_token SET owner = (SELECT number FROM "user" WHERE username = created_by);
CREATE INDEX service_token_by_owner ON service_token (owner);
`,

  /** Responses to requests with an idempotency key. `number` ascends in the order in which they were stored. */
  responses: `
CREATE TABLE response (
  number {assigned} PRIMARY KEY,
  id {text} NOT NULL UNIQUE,
  holder {text} NOT NULL,
  digest {text} NOT NULL,
  status {integer} NOT NULL,
  body {bytes} NOT NULL,
  size {integer} NOT NULL,
  expires_at {integer} NOT NULL
){end};
CREATE INDEX response_by_expiry ON response (expires_at);
CREATE INDEX response_large ON response (holder, number, size) WHERE size >= 4096;
`,

  /**
   * Proofs of keys. `device.proof` is JSON, NULL without a proof. `proof` has the answers to challenges; `is_pending`: its serial
   * number was not registered when it was last looked at. `document`: settings that the journal proves.
   */
  proofs: `
ALTER TABLE device ADD COLUMN proof {text};
CREATE TABLE proof (
  number {assigned} PRIMARY KEY,
  proof_id {text} NOT NULL UNIQUE,
  serial_number {text} NOT NULL,
  created_at {integer} NOT NULL,
  received_by {text},
  registry_id {text} NOT NULL,
  challenge {text} NOT NULL,
  ephemeral_key {text} NOT NULL,
  described {text},
  claims {text} NOT NULL,
  evidence {text},
  evidence_digest {text},
  proof {text} NOT NULL,
  is_pending {boolean} NOT NULL{truth is_pending}
){end};
CREATE INDEX proof_by_serial ON proof (serial_number, number);
CREATE INDEX proof_by_evidence ON proof (evidence_digest) WHERE evidence_digest IS NOT NULL;
CREATE TABLE document (
  number {assigned} PRIMARY KEY,
  name {text} NOT NULL UNIQUE,
  version {integer} NOT NULL,
  value {text} NOT NULL
){end};
`,

  /** The progress of each endpoint of a webhook, as JSON; `number` is that of the endpoint. */
  webhooks: `
CREATE TABLE webhook_progress (
  number {integer} PRIMARY KEY,
  version {integer} NOT NULL,
  progress {text} NOT NULL
){end};
`,

  /** The keys that users sign in with. `transports` and `used` are JSON. */
  passkeys: `
CREATE TABLE passkey (
  number {integer} PRIMARY KEY,
  owner {integer} NOT NULL REFERENCES {user} (number),
  name {text} NOT NULL,
  credential_id {text} NOT NULL UNIQUE,
  public_key {text} NOT NULL,
  rp_id {text} NOT NULL,
  transports {text} NOT NULL,
  aaguid {text} NOT NULL,
  sign_count {integer} NOT NULL,
  created_at {integer} NOT NULL,
  last_used_at {integer},
  removed_at {integer},
  version {integer} NOT NULL,
  used {text} NOT NULL
){end};
CREATE INDEX passkey_by_owner ON passkey (owner, number);
`,

  /** The version of each device, from 1: it rises with changes. */
  deviceVersions: `ALTER TABLE device ADD COLUMN version {integer} NOT NULL DEFAULT 1;`,

  /** Persons, and what leavers did within the last minutes. `names`, `groups` and `counts` are JSON. */
  personColumns: `
  number {integer} PRIMARY KEY,
  user_name {text} NOT NULL,
  user_key {text} NOT NULL UNIQUE,
  name {text},
  names {text},
  email {text},
  external_id {text},
  active {boolean} NOT NULL,
  groups {text} NOT NULL,
  source {text} NOT NULL,
  created_at {integer} NOT NULL,
  updated_at {integer} NOT NULL,
  left_at {integer},
  held_at {integer},
  due_at {integer},
  reason {text},
  removed_at {integer},
  version {integer} NOT NULL,
  salt {text} NOT NULL,
  search {text} NOT NULL`,
  peopleIndexes: `
CREATE INDEX person_by_source ON person (source, number);
CREATE INDEX person_by_state ON person (active, number);
CREATE INDEX person_by_external_id ON person (external_id, number) WHERE external_id IS NOT NULL;
CREATE INDEX person_held ON person (held_at, number) WHERE held_at IS NOT NULL;
CREATE INDEX person_due ON person (due_at, number) WHERE due_at IS NOT NULL;
`,
  leaverCounts: `
CREATE TABLE leaver_count (number {integer} PRIMARY KEY, counts {text} NOT NULL){end};
`,
  /**
   * To whom a device belongs. `user_key` is what names are compared by; devices of an earlier version get it at the next start. A
   * name of a removed person can be that of another one.
   */
  devicePersons: `
ALTER TABLE device ADD COLUMN user_key {text};
ALTER TABLE device ADD COLUMN person {integer};
CREATE INDEX device_by_key ON device (user_key, number) WHERE user_key IS NOT NULL;
CREATE INDEX device_by_person ON device (person, number) WHERE person IS NOT NULL;
CREATE INDEX device_unmatched ON device (number) WHERE user_id IS NOT NULL AND person IS NULL;
CREATE INDEX device_unkeyed ON device (number) WHERE user_id IS NOT NULL AND user_key IS NULL;
ALTER TABLE {user} ADD COLUMN user_key {text};
UPDATE {user} SET user_key = lower(username);
CREATE INDEX user_by_key ON {user} (user_key);
`,
  personNames: `
CREATE UNIQUE INDEX person_by_name ON person (user_key) WHERE removed_at IS NULL;
CREATE INDEX person_named ON person (user_key, number);
`,
  /** Lists of persons count and skip in these indexes alone. */
  personIndexes: `
CREATE INDEX person_present ON person (number) WHERE removed_at IS NULL;
CREATE INDEX person_by_source_and_state ON person (source, active, number);
`,

  /** The sessions of users that came from the provider of single sign-on, as JSON; `number` is that of the user. */
  ssoSessions: `
CREATE TABLE sso_session (
  number {integer} PRIMARY KEY REFERENCES {user} (number),
  version {integer} NOT NULL,
  sessions {text} NOT NULL
){end};
`,

  /** New user names that wait for a release. */
  pendingNames: `
ALTER TABLE person ADD COLUMN pending_name {text};
`,

  /** Whether an ADMIN or the source has ended a person. The reasons of sources are in the form of this step. */
  personEnders: `
ALTER TABLE person ADD COLUMN ended_by {text};
UPDATE person SET ended_by = CASE WHEN reason IN ('left (local)', 'left (scim)', 'left (directory)') THEN 'source' ELSE 'admin' END
  WHERE reason IS NOT NULL;
`,

  /** Provisioning requests that were refused, as JSON; `number` is that of their source. */
  refusedRequests: `
CREATE TABLE refused_request (number {integer} PRIMARY KEY, requests {text} NOT NULL, announced_at {integer} NOT NULL){end};
`,

  /** Entries about subjects, which are few beside those about devices. */
  entriesOfSubjects: `
CREATE INDEX IF NOT EXISTS event_of_subjects ON event (id) WHERE device IS NULL AND subject IS NOT NULL;
CREATE INDEX IF NOT EXISTS event_by_subject ON event (subject, id) WHERE device IS NULL AND subject IS NOT NULL;
`,

  /** Changes of administration without a walk through the whole journal. */
  entriesBesideDevices: `CREATE INDEX IF NOT EXISTS event_beside_devices ON event (id) WHERE ${besideDevices}`,

  /** The case of each person who has left; `number` is that of the person. `kept`, `overdue` and `items` are JSON. */
  leaverCases: `
CREATE TABLE IF NOT EXISTS leaver_case (
  number {integer} PRIMARY KEY,
  opened_at {integer} NOT NULL,
  closed_at {integer},
  kept {text} NOT NULL,
  overdue {text} NOT NULL,
  items {text},
  salt {text} NOT NULL,
  version {integer} NOT NULL
){end};
CREATE INDEX IF NOT EXISTS leaver_case_open ON leaver_case (opened_at, number) WHERE closed_at IS NULL;
`,

  /** Credentials of devices at providers. */
  credentials: `
CREATE TABLE credential (
  number {integer} PRIMARY KEY,
  device {integer} NOT NULL REFERENCES device (number),
  provider {integer} NOT NULL,
  account {text} NOT NULL,
  label {text} NOT NULL,
  begun {text},
  credential_id {text},
  remote_id {text},
  created_at {integer} NOT NULL,
  issued_at {integer},
  removed_at {integer},
  version {integer} NOT NULL
){end};
CREATE UNIQUE INDEX credential_of_device ON credential (device, provider) WHERE removed_at IS NULL;
CREATE INDEX credential_by_device ON credential (device, number);
CREATE INDEX credential_at_provider ON credential (provider, number);
CREATE INDEX credential_of_account ON credential (provider, account);
CREATE INDEX credential_open ON credential (number) WHERE removed_at IS NULL;
`,
  /** A device has one credential at a provider, beside those that were given up. */
  uncertainCredentials: `
ALTER TABLE credential ADD COLUMN uncertain_at {integer};
DROP INDEX credential_of_device;
CREATE UNIQUE INDEX credential_of_device ON credential (device, provider) WHERE uncertain_at IS NULL AND removed_at IS NULL;
`,

  /** Keys are found by the ids that they gave to their credentials. */
  credentialIds: 'CREATE INDEX IF NOT EXISTS credential_by_id ON credential (credential_id) WHERE removed_at IS NULL',

  /** Devices are found by their SSH keys. */
  sshKeys: 'CREATE INDEX IF NOT EXISTS credential_by_remote_id ON credential (remote_id) WHERE removed_at IS NULL',

  /** The salt of digests of credentials. */
  credentialSalts: 'ALTER TABLE credential ADD COLUMN salt {text}',

  /** When devices were sent to their persons, and arrived. */
  shipments: `
ALTER TABLE device ADD COLUMN shipped_at {integer};
ALTER TABLE device ADD COLUMN received_at {integer};
`,

  /** Devices that were sent and have not arrived, the earliest first. */
  shipmentsOnTheirWay: `CREATE INDEX IF NOT EXISTS device_on_its_way ON device (shipped_at, number)
WHERE shipped_at IS NOT NULL AND received_at IS NULL AND status = 'ACTIVE'`,

  /** Receipts that keys have signed. */
  receipts: `
CREATE TABLE receipt (
  number {integer} PRIMARY KEY,
  receipt_id {text} NOT NULL UNIQUE,
  device {integer} NOT NULL REFERENCES device (number),
  kind {text} NOT NULL,
  text {text} NOT NULL,
  credential_id {text} NOT NULL,
  authenticator_data {text} NOT NULL,
  signature {text} NOT NULL,
  public_key {text} NOT NULL,
  proof {text} NOT NULL,
  created_at {integer} NOT NULL,
  open_until {integer},
  announce_at {integer},
  closed_by {integer}
){end};
CREATE INDEX receipt_open ON receipt (open_until) WHERE open_until IS NOT NULL;
CREATE INDEX receipt_announce ON receipt (announce_at) WHERE announce_at IS NOT NULL;
`,

  /** Credentials by which keys are recognized, with the orders in which an attached key is asked for them. `transports` is JSON. */
  identities: `
CREATE TABLE identity (
  number {integer} PRIMARY KEY,
  device {integer} NOT NULL REFERENCES device (number),
  credential_id {text} NOT NULL UNIQUE,
  public_key {text} NOT NULL,
  algorithm {integer} NOT NULL,
  relying_party {text} NOT NULL,
  aaguid {text} NOT NULL,
  firmware {text} NOT NULL,
  transports {text} NOT NULL,
  number_source {text} NOT NULL,
  created_at {integer} NOT NULL,
  lost_at {integer},
  proved_at {integer},
  counter {integer} NOT NULL,
  seen_at {integer} NOT NULL,
  station {text} NOT NULL,
  version {integer} NOT NULL
){end};
CREATE INDEX identity_by_device ON identity (device, number);
CREATE INDEX identity_by_station ON identity (aaguid, station, seen_at, number) WHERE lost_at IS NULL;
CREATE INDEX identity_by_firmware ON identity (aaguid, firmware, seen_at, number) WHERE lost_at IS NULL;
`,
};

/** The statements as an engine writes them. */
export function schemaIn(dialect: SchemaDialect): typeof statements {
  const inDialect = (statement: string) =>
    statement.replace(/\{(\w+)(?: ([^{}]+))?\}/g, (_, word: keyof SchemaDialect, operand: string) => {
      const written = dialect[word];
      return typeof written === 'string' ? written : written(operand);
    });
  return Object.fromEntries(
    Object.entries(statements).map(([name, statement]) => [name, inDialect(statement)]),
  ) as typeof statements;
}

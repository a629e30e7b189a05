/** Example values: those of the operation first, then those of the field's name, then those of its schema. */
import type { TSchema } from 'typebox';
import { Code, codes, type ErrorCode, type InputProblem } from '../codes.ts';
import type { RouteShape } from '../define.ts';
import { forEachText } from '../device-description.ts';
import { receiptText } from '../receipts/text.ts';
import { messageOf, messages, storeAway, unknownParameter } from './messages.ts';
import type { Json, JsonObject } from './schemas.ts';

const registryId = '24d33d41165a36cd537462bd00de2a98';
const challenge = '_vg6w0uBYTIu7Y1A6SwoT5Rv0zqRsg6qk-elAMEy030';
const ticket = 'AaIswZWxoyYAG9T_Mqz8McGq8Ehhmoal3XgU2buutNJfn5gimMaKECgotk9EWg';
const receipt = {
  receiptId: 'RCT-7KQM2XWDH9TBC4REPA3S',
  kind: 'handover',
  serialNumber: 'UK-2026-000001',
  date: '2026-03-01T08:30:00.000Z',
  terms: 'The key stays the property of Example Ltd.',
} as const;

/** Values by field name, consistent across all operations. */
const byName: Readonly<Record<string, Json>> = {
  ...forEachText(({ example }) => example),
  active: true,
  activationCodeExpiresAt: '2027-03-01T08:30:00.000Z',
  currentVersion: '0.9.0',
  detail: 'ready',
  durationSeconds: 95,
  email: 'ops@example.com',
  expiresAt: '2027-03-01T08:30:00.000Z',
  expireTime: '2026-03-02T08:30:00.000Z',
  fileName: 'ePass-K9-0001.bak',
  fileSize: 73_400_320,
  id: 'USR-1',
  idempotencyKeys: true,
  importedBy: 'admin',
  lockReason: 'reported lost',
  message: 'success',
  note: 'drawer 3',
  oldActivationCode: 'M4TY-Q9CB-2HRK-VX7P',
  problem: null,
  reader: null,
  removed: true,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  size: 20,
  total: 1,
  totalPages: 1,
  totalUsageCount: 12,
  totalUsageDuration: 3600,
  touched: true,
  uploadedBy: 'admin',
  uptimeSeconds: 86_400,
  userEmail: null,
  userId: 'alice',
  userName: null,
  username: 'admin',
  versionName: 'First release',
  changelog: 'First release.',
};

/** Values of fields that neither their operation nor their schema suggests. */
const byNameElse: Readonly<Record<string, string>> = {
  ADMIN: 'registry-admins',
  DEALER: 'registry-dealers',
  VIEWER: 'everyone',
  account: 'ada@example.com',
  acr: 'phr',
  amr: 'hwk',
  advisory: 'YSA-2024-03',
  authenticatorData: 'rJvnFJ_KvFLLjBoqUeZL1vMx6uAUSnKRdUTl2rbhaFUBAAAAAQ',
  challenge,
  credentialId: 'eMLqitIt0cLYP6wqv9pxO84kl0MdXN17GE8QIVLrgsQ',
  deviceCode: challenge,
  ephemeralPublicKey: 'BDD1kKVbvVok1BdQo1So5H84Kz_2GgPIrswN3vMc3EZ6cqaIWYi78RRgkVja8Z-lZFFA73B3m4eUssdjNa9x_a8',
  fingerprint: '62760c6a6ef91679f454c8902b80fd009825b3f25da90f1fbace2ec6586cd5a8',
  identityId: ticket,
  label: 'sample',
  messageId: 'evt_24d33d41_193_9f2d4e41440fd0c4',
  proofId: ticket,
  registryId,
  relyingParty: `${registryId}.devmgr.invalid`,
  remoteId: 'BpYJ5gW3',
  requestId: ticket,
  scopes: 'openid',
  secret: challenge,
  serialNumber: 'UK-2026-000001',
  signature: 'MEQCID4NiJtLCanekWVTHrfwwWgVIp0QPCr1iYrZWfNeeW4RAiAt4tMmahDMIsdTCxPYDAEBRhrH9ZuFfnBC_vherLzIUQ',
  site: 'example.com',
  state: challenge,
  subject: 'CN=devmgr sample root',
  terms: receipt.terms,
  text: receiptText({ ...receipt, registryId, deviceId: 'DEV-1', lot: null, person: 'alice', name: null, dueAt: null }),
  url: 'https://login.example.com/authorize?client_id=devmgr',
  value: '7',
};

const ada = { userName: 'ada.lovelace', email: 'ada@example.com' };
const attributes = { userName: 'uid', email: 'mail', id: 'entryUUID' };
const active = { status: 'ACTIVE' };
const unlocked = { lockReason: null, lockedAt: null, deactivatedAt: null };
const apk = { fileName: 'devmgr-1.0.0.apk' };
const ssoSettings = { localAccounts: { from: 'ANYWHERE', names: [] } };
const proofPolicy = { leastFirmware: [{ model: 'YubiKey', version: '5.7.0' }] };
const publicKey = [
  '-----BEGIN PUBLIC KEY-----',
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAExleX3Nd1uFj+yqkN0sBwTR2VSVoy',
  'HdvYy998E/O6hDk+vWqnJ/x3vbPjBmCnR6zFl/KWrqLyfUcJowWer0yGkA==',
  '-----END PUBLIC KEY-----\n',
].join('\n');
const providerAddress = { address: 'https://example.okta.com' };
const handover = { lot: '7', name: 'Ada Lovelace', dueAt: null };
const signed = {
  ...{ ...handover, publicKey, person: 'alice', grade: 'model', proofId: ticket, challenge },
  attestation: '{"method":"fido","attestationObject":"o2NmbXRmcGFja2Vk…"}',
  text: receiptText({ ...receipt, ...handover, registryId, deviceId: 'DEV-1', person: 'alice' }),
};
const at = receipt.date;
/** Values of fields in the response of one operation. */
const byOperation: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  activateDevice: active,
  approveTerminalLogin: { approved: true },
  batchUpdateDevices: {
    ...{ success: 1, code: 200, serialNumber: receipt.serialNumber, deviceId: 'DEV-1' },
    data: { deviceId: 'DEV-1', status: 'LOCKED', lockedAt: receipt.date, lockReason: 'audit', version: 3 },
  },
  batchRegisterDevices: {
    ...{ total: 1, success: 1, failed: 0, message: 'registered' },
    ...{ deviceId: 'DEV-1', activationCode: '7KQM-2XWD-H9TB-C4RE' },
  },
  bindIdentity: { provedAt: null },
  createIdentityChallenge: { policy: 'where-needed' },
  createPerson: ada,
  createProvider: providerAddress,
  deactivateDevice: { status: 'DEACTIVATED' },
  erasePerson: { where: 'webhooks' },
  finishCredential: { removedAt: null },
  getDevice: { ...active, ...unlocked, backupCount: 1 },
  getPerson: ada,
  getHealth: { ready: true, store: { state: 'ready', detail: 'SQLite' } },
  getLatestAppVersion: { ...apk, updateAvailable: true },
  getAppVersion: apk,
  getReceipt: signed,
  getSession: { console: true },
  listAppVersions: apk,
  listDevices: active,
  listHeldPeople: { ...ada, active: false },
  listOwnDevices: { ...active, next: 'receive' },
  listPeople: ada,
  listCases: { userName: ada.userName, id: 'DEV-1' },
  listProvisioning: { userName: ada.userName },
  comparePeople: { userName: ada.userName },
  listUnmatched: { userName: ada.userName, userId: 'Ada.Lovelace' },
  lockDevice: { status: 'LOCKED' },
  readPin: { sealed: 'YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0-IFgyNTUxOSA' },
  recordKeyReset: { hadPin: true },
  registerDevice: { status: 'INACTIVE' },
  reportLost: { status: 'LOCKED' },
  reportPerson: {
    complete: true,
    person: {
      ...{ ...ada, name: 'Ada Lovelace', names: null, externalId: null, active: false, groups: [], source: 'local' },
      ...{ createdAt: at, updatedAt: at, leftAt: at, heldAt: null, pendingName: null, dueAt: null, reason: 'has left' },
      ...{ endedBy: 'admin', removedAt: null, personId: 'PER-1' },
    },
    case: { opened: at, closed: at, kept: [], items: [] },
  },
  setDirectory: attributes,
  setProofPolicy: proofPolicy,
  setProviderSecret: providerAddress,
  setSso: ssoSettings,
  shipDevice: active,
  showDirectory: attributes,
  showProofPolicy: proofPolicy,
  showSsoSettings: ssoSettings,
  storePin: { openedAt: null },
  submitProof: { deviceId: null, grade: 'claimed', model: null, firmware: '5.7.4', rule: null },
  submitReceipt: signed,
  testDirectory: { detail: 'the directory is not set up' },
  testProvider: { problem: 'example.okta.com: the name does not exist', proxy: null },
  testSso: {
    ...{ check: 'settings', detail: 'single sign-on is off', scopes: ['openid'] },
    grantTypes: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  },
  testWebhook: { messageId: 'test_1d0e40da-14e1-48a5-9f22-69b37a6cbedd', reason: 'the name does not exist' },
  unlockDevice: active,
  undoPeople: { id: 'PER-1' },
  uploadAppVersion: apk,
};

interface ExampleSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly ExampleSchema[];
  readonly examples?: readonly Json[];
  readonly default?: Json;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, ExampleSchema>>;
  readonly required?: readonly string[];
  readonly items?: ExampleSchema;
}

type Values = Readonly<Record<string, Json>>;

function exampleOf(schema: ExampleSchema, name: string, given: Values): Json {
  if (given[name] !== undefined) return given[name];
  const inner = schema.anyOf?.find(option => option.type !== 'null');
  const { type } = inner ?? schema;
  const named = byName[name];
  // The id of a user is a text, that of an event a number.
  if (named !== undefined && type !== 'object' && !(type === 'integer' && typeof named === 'string')) return named;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (inner && /^(string|integer)$/.test(inner.type ?? '') && !inner.enum && !inner.examples) return null;
  if (inner) return exampleOf(inner, name, given);
  if (schema.default !== undefined) return schema.default;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  switch (schema.type) {
    case 'object':
      return objectExample(schema, given, field => schema.required?.includes(field) || given[field] !== undefined);
    case 'array':
      return schema.items && (schema.minItems || isKnown(schema.items)) ? [exampleOf(schema.items, name, given)] : [];
    case 'integer':
      return schema.minimum ?? 0;
    case 'boolean':
      return false;
    default:
      return byNameElse[name] ?? name;
  }
}

/** Whether something is known about the items of a list. */
const isKnown = ({ type, enum: words, examples }: ExampleSchema): boolean =>
  type !== 'string' || Boolean(words ?? examples);

function objectExample(schema: ExampleSchema, given: Values, wanted: (name: string) => boolean): JsonObject {
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => wanted(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, name, given)]));
}

const plain = (schema: TSchema) => schema as unknown as ExampleSchema;

/** `data` of a successful response. */
export function dataExample(shape: RouteShape): Json {
  if (shape.example?.data !== undefined) return shape.example.data as Json;
  return shape.data ? exampleOf(plain(shape.data), '', byOperation[shape.id] ?? {}) : null;
}

/** A body or a form: the example of the contract, else the required fields. */
export function inputExample(shape: RouteShape): JsonObject {
  const schema = shape.body ?? shape.form;
  const given = shape.example?.body ?? shape.example?.form;
  if (given || !schema) return readForm(shape, (given ?? {}) as JsonObject);
  const required = new Set(plain(schema).required);
  return objectExample(plain(schema), {}, name => required.has(name));
}

/** In a form every value is sent as text; its example has the type of the schema. */
function readForm(shape: RouteShape, given: JsonObject): JsonObject {
  if (!shape.form) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === 'true' ? true : value === 'false' ? false : value]),
  );
}

/** The example of a path or query parameter in the contract; undefined if it has none. */
export function givenParameter(shape: RouteShape, name: string): Json | undefined {
  return (shape.example?.params?.[name] ?? shape.example?.query?.[name]) as Json | undefined;
}

/** A value from the schema of a parameter; undefined if it suggests none. */
export const suggested = (schema: TSchema): Json | undefined => plain(schema).examples?.[0] ?? plain(schema).default;

/** The envelope of an error of one operation, or of any operation if `shape` is undefined. */
export function errorExample(code: ErrorCode, status: number, shape: RouteShape | undefined): JsonObject {
  if (status === 503) return { code, message: storeAway, data: null };
  const recorded = shape && messageOf(shape, code);
  if (code === Code.parameterError)
    return inputFault(typeof recorded === 'string' ? { field: '', reason: recorded } : recorded, shape);
  const message = typeof recorded === 'string' ? recorded : messages[code];
  return { code, message: message ?? codes[code].meaning, data: null };
}

/** The envelope of 1001: the recorded problem, else all problems of an empty body, else that of any operation. */
function inputFault(recorded: InputProblem | undefined, shape: RouteShape | undefined): JsonObject {
  const input = shape?.body ?? shape?.form ?? shape?.query;
  const required = recorded || !input ? [] : (plain(input).required ?? []);
  const missing = required.map(field => {
    const allowed = plain(input!).properties?.[field]?.enum;
    return { field, reason: 'is required', ...(allowed ? { allowed } : {}) };
  });
  const [first, ...others] = missing.length > 0 ? missing : [{ ...(recorded ?? unknownParameter) }];
  const message = `${first!.field} ${first!.reason}`.trim();
  return { code: Code.parameterError, message, data: null, details: [first!, ...others] };
}

/** Example values: those of the operation first, then those of the field's name, then those of its schema. */
import type { TSchema } from 'typebox';
import { Code, codes, type ErrorCode } from '../codes.ts';
import type { RouteShape } from '../define.ts';
import { forEachText } from '../device-description.ts';
import type { Json, JsonObject } from './schemas.ts';

/** Values by field name, consistent across all operations. */
const byName: Readonly<Record<string, Json>> = {
  ...forEachText(({ example }) => example),
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
  lockReason: 'reported lost',
  message: 'success',
  note: 'drawer 3',
  oldActivationCode: 'M4TY-Q9CB-2HRK-VX7P',
  problem: null,
  reader: null,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  size: 20,
  total: 1,
  totalPages: 1,
  totalUsageCount: 12,
  totalUsageDuration: 3600,
  uploadedBy: 'admin',
  uptimeSeconds: 86_400,
  userEmail: null,
  userId: 'alice',
  userName: null,
  username: 'admin',
  versionName: 'First release',
  changelog: 'First release.',
};

const ada = { userName: 'ada.lovelace', email: 'ada@example.com' };
const attributes = { userName: 'uid', email: 'mail', id: 'entryUUID' };
const active = { status: 'ACTIVE' };
const unlocked = { lockReason: null, lockedAt: null, deactivatedAt: null };
/** Values of fields in the response of one operation. */
const byOperation: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  activateDevice: active,
  batchRegisterDevices: { total: 1, success: 1, failed: 0, code: 200 },
  createPerson: ada,
  deactivateDevice: { status: 'DEACTIVATED' },
  getDevice: { ...active, ...unlocked, backupCount: 1 },
  getPerson: ada,
  getHealth: { ready: true },
  getLatestAppVersion: { updateAvailable: true },
  getAppVersion: { fileName: 'devmgr-1.0.0.apk' },
  listAppVersions: { fileName: 'devmgr-1.0.0.apk' },
  listDevices: active,
  listHeldPeople: { ...ada, active: false },
  listPeople: ada,
  listCases: { userName: ada.userName },
  listProvisioning: { userName: ada.userName },
  listUnmatched: { userName: ada.userName, userId: 'Ada.Lovelace' },
  lockDevice: { status: 'LOCKED' },
  registerDevice: { status: 'INACTIVE' },
  setDirectory: attributes,
  showDirectory: attributes,
  unlockDevice: active,
  uploadAppVersion: { fileName: 'devmgr-1.0.0.apk' },
};

interface ExampleSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly ExampleSchema[];
  readonly examples?: readonly Json[];
  readonly default?: Json;
  readonly minimum?: number;
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
  if (inner) return exampleOf(inner, name, given);
  if (schema.default !== undefined) return schema.default;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  switch (schema.type) {
    case 'object':
      return objectExample(schema, given, () => true);
    case 'array':
      return schema.items ? [exampleOf(schema.items, name, given)] : [];
    case 'integer':
      return schema.minimum ?? 0;
    case 'boolean':
      return false;
    default:
      return name;
  }
}

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

/** Messages that say more than the meaning of their code. */
const messages: Partial<Record<ErrorCode, string>> = {
  [Code.serialDuplicated]: 'serialNumber UK-2026-000001 already exists: DEV-1 (INACTIVE)',
};

/** The envelope of an error of one operation, or of any operation if `shape` is undefined. */
export function errorExample(code: ErrorCode, shape: RouteShape | undefined): JsonObject {
  const input = shape?.body ?? shape?.form ?? shape?.query;
  const first = input && plain(input).required?.[0];
  const message =
    code === Code.parameterError && first ? `${first} is required` : (messages[code] ?? codes[code].meaning);
  if (code !== Code.parameterError) return { code, message, data: null };
  const problem = first ? { field: first, reason: 'is required' } : { field: '', reason: message };
  return { code, message, data: null, details: [problem] };
}

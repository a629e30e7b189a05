/** Opens the envelope of a response. A response without one is explained in words. */
import type { IncomingHttpHeaders } from 'node:http';
import { describedNames } from '../../contract/device-description.ts';
import { isObject, objectIn } from '../../contract/json-object.ts';
import { type Fault, failure } from '../fault.ts';
import { NotServing, ServerRefusal, Unreachable } from './failures.ts';

/** A response with its body as text. */
interface TextResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const wrongServer = 'is this the address of a devmgr server? (--server URL)';
/** Sent by a proxy whose server is away. */
const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * The `data` of the envelope, which has at least these fields. A `ServerRefusal` if the server refused, else a fault: `Unreachable`
 * for a gateway without its server, `failure` for a response that does not come from a devmgr server.
 */
export function openEnvelope(response: TextResponse, origin: string, fields: readonly string[]): unknown {
  const { status, headers, text } = response;
  if (status >= 300 && status < 400) throw redirected(origin, headers.location);
  const envelope = objectIn(text);
  if (envelope === null || typeof envelope.code !== 'number') {
    if (status === 429)
      throw new ServerRefusal(429, `${origin} is limiting requests`, { waitSeconds: waitSeconds(headers) });
    if (gatewayStatuses.has(status))
      throw new Unreachable(`the server behind ${origin} is not available (HTTP ${status})`, true);
    throw notDevmgr(response, origin);
  }
  // The health of a daemon that is not ready is an error with data.
  const isUnready = status === 503 && isObject(envelope.data);
  if (envelope.code !== 200 && !isUnready) {
    const message =
      typeof envelope.message === 'string' && envelope.message ? envelope.message : `code ${envelope.code}`;
    const Refusal = status === 503 ? NotServing : ServerRefusal;
    const wait = envelope.code === 429 ? waitSeconds(headers) : null;
    const { code, data } = envelope;
    const details = Array.isArray(envelope.details) ? envelope.details : [];
    throw new Refusal(code, message, { waitSeconds: wait, requestId: requestId(headers), data, details });
  }
  const data = envelope.data;
  const problem = problemOf(data, fields);
  if (problem !== null)
    throw failure(`the response of ${origin} does not follow this interface: ${problem}`, wrongServer);
  return data;
}

/** Fault of the data; null if it has the fields. */
function problemOf(data: unknown, fields: readonly string[]): string | null {
  for (const field of fields.filter(name => !name.includes('.'))) {
    if (!isObject(data) || !Object.hasOwn(data, field)) return `"${field}" is missing`;
    if (lists.has(field) && !isListOfObjects(data[field])) return `"${field}" is not a list of objects`;
    if (objects.has(field) && !isObject(data[field])) return `"${field}" is not an object`;
    if (field === 'pagination' || lists.has(field)) {
      const problem = partProblem(data[field], field);
      if (problem !== null) return problem;
    }
  }
  if (!isObject(data)) return null;
  return oddField(data, '') ?? lackingPart(data, fields);
}

/** The first of the fields like `list.id` that an item of the list lacks. */
function lackingPart(data: Record<string, unknown>, fields: readonly string[]): string | null {
  for (const [list = '', name] of fields.map(field => field.split('.'))) {
    if (name === undefined) continue;
    const isLacking = (item: Record<string, unknown>) =>
      name === 'data' ? !isObject(item.data) : !Object.hasOwn(item, name);
    if ((data[list] as Record<string, unknown>[]).some(isLacking))
      return `"${name}" is missing in an item of "${list}"`;
  }
  return null;
}

/** Fault of an item of the list that an operation returns in an export; null if there is none. */
export const itemProblem = (item: Record<string, unknown>, fields: readonly string[]): string | null =>
  oddField(item, '') ?? lackingPart({ list: [item] }, fields);

/** Fault of the fields of a pagination, or of the items of a list. */
function partProblem(value: unknown, field: string): string | null {
  if (!Array.isArray(value)) {
    const odd = counts.find(name => typeof (value as Record<string, unknown>)[name] !== 'number');
    return odd === undefined ? null : `"${odd}" of "${field}" is not a number`;
  }
  for (const item of value as readonly Record<string, unknown>[]) {
    const odd = oddField(item, ` of an item of "${field}"`);
    if (odd !== null) return odd;
  }
  return null;
}

/** A field of an object that has another type than in this interface. A field that is absent is shown as `-`, unless it is an id. */
function oddField(object: Record<string, unknown>, where: string): string | null {
  for (const [name, value] of Object.entries(object))
    if (texts.has(name) && value !== null && typeof value !== 'string' && !isDeviceVersion(object, name))
      return `"${name}"${where} is not text`;
  return null;
}

/** The version of a package is text, that of a device counts its changes. */
const isDeviceVersion = (object: Record<string, unknown>, name: string): boolean =>
  name === 'version' && typeof object.version === 'number' && 'deviceId' in object;

/** Fields of these shapes in every operation that has them: commands read the parts of their values. */
const lists: ReadonlySet<string> = new Set(['list', 'results', 'byManufacturer', 'certificates']);
const objects: ReadonlySet<string> = new Set(['pagination', 'byStatus', 'byType', 'registrations', 'proof']);

const counts = ['page', 'total', 'totalPages'] as const;
/** Fields that are text or null wherever they appear. */
const texts: ReadonlySet<string> = new Set([
  ...['deviceId', 'deviceType', 'serialNumber', ...describedNames, 'status'],
  ...['userId', 'userName', 'userEmail', 'activationCode', 'lockReason', 'note', 'username', 'role', 'email'],
  ...['tokenId', 'name', 'createdBy', 'versionId', 'platform', 'version', 'versionName', 'fileName', 'sha256'],
  ...['backupId', 'keyId', 'serialSource', 'reader', 'vendorId', 'productId', 'problem', 'type', 'timestamp'],
  ...['createdAt', 'updatedAt', 'activatedAt', 'lastUsedAt', 'lockedAt', 'unlockedAt', 'deactivatedAt', 'attachedAt'],
  ...['shippedAt', 'receivedAt'],
  ...['expiresAt', 'revokedAt', 'activationCodeExpiresAt'],
  ...['fingerprint', 'label', 'purpose', 'kind', 'subject', 'notAfter', 'importedBy', 'importedAt'],
]);

const isListOfObjects = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);

/** The id of a request in the server's log; null if the server names none. */
export function requestId(headers: IncomingHttpHeaders): string | null {
  const id = headers['x-request-id'];
  return typeof id === 'string' ? id : null;
}

/** Retry-After is a duration, so the clocks need not agree; X-RateLimit-Reset is a time. Null if there is neither. */
function waitSeconds(headers: IncomingHttpHeaders): number | null {
  const after = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(after)) return Math.max(0, after);
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-reset'] === undefined || !Number.isFinite(reset)) return null;
  return Math.max(0, reset - Date.now() / 1000);
}

function redirected(origin: string, location: string | undefined): Fault {
  const target = location && URL.canParse(location, origin) ? new URL(location, origin).origin : null;
  return failure(
    `${origin} redirects${target ? ` to ${target}` : ''}, and devmgr does not send a token to another address`,
    target ? `if that is the correct server: --server ${target}` : wrongServer,
  );
}

/** The fault for a response that does not come from a devmgr server. */
export function notDevmgr({ status, headers, text }: TextResponse, origin: string): Fault {
  const type = String(headers['content-type'] ?? '').split(';')[0];
  const what =
    text === ''
      ? 'nothing'
      : type?.includes('html')
        ? 'a web page'
        : `an unexpected response${type ? ` (${type})` : ''}`;
  return failure(`${origin} is not a devmgr server: it sent ${what} with HTTP ${status}`, wrongServer);
}

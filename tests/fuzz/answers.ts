/** Reads what a daemon sent back on a bare socket, and explains what is wrong with it. */
import { codes, isErrorCode, SUCCESS } from '../../src/contract/codes.ts';

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

const headEnd = Buffer.from('\r\n\r\n');

/** The first whole answer and what follows it; null if it has not arrived in full. Interim answers (100) are skipped. */
export function firstAnswer(bytes: Buffer, method: string): { answer: HttpAnswer; rest: Buffer } | null {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return null;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  const after = bytes.subarray(end + headEnd.length);
  if (status === 100) return firstAnswer(after, method);
  const headers = new Map(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const found =
    method === 'HEAD' || status === 304 || status === 101
      ? { body: after.subarray(0, 0), rest: after }
      : bodyOf(headers, after);
  return found && { answer: { status, headers, body: found.body }, rest: found.rest };
}

const interim = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/** The final answer after interim ones. */
export function withoutInterim(bytes: Buffer): Buffer {
  return bytes.subarray(0, interim.length).equals(interim) ? withoutInterim(bytes.subarray(interim.length)) : bytes;
}

function bodyOf(headers: ReadonlyMap<string, string>, after: Buffer): { body: Buffer; rest: Buffer } | null {
  if (headers.get('transfer-encoding') === 'chunked') return chunkedBody(after);
  const length = Number(headers.get('content-length') ?? 0);
  return after.length < length ? null : { body: after.subarray(0, length), rest: after.subarray(length) };
}

function chunkedBody(after: Buffer): { body: Buffer; rest: Buffer } | null {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = after.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(after.subarray(at, line).toString(), 16);
    if (after.length < line + 4 + size) return null;
    pieces.push(after.subarray(line + 2, line + 2 + size));
    at = line + 4 + size;
    if (size === 0) return { body: Buffer.concat(pieces), rest: after.subarray(at) };
  }
}

/** Downloads, pages and documents are themselves. */
const plain = /^(text\/|application\/(octet-stream|x-ndjson|yaml|javascript)|image\/)/;

/** The fault of an answer as a text; null if it has none. */
export function faultOf({ status, headers, body }: HttpAnswer, method: string): string | null {
  if (!Number.isInteger(status)) return 'no HTTP';
  // The answer of a daemon whose provider does not respond: that of `furnish`, or one that an input has set.
  if (status === 503 && /the provider (?:of single sign-on )?does not respond/.test(String(body))) return null;
  if (status >= 500) return `status ${status}: ${body}`;
  if (!headers.get('x-request-id')) return `no X-Request-Id with ${status}`;
  if (!headers.get('x-devmgr-node')) return `no X-Devmgr-Node with ${status}`;
  if (status === 303 && headers.get('location')?.startsWith('/console/#')) return null;
  if (status === 101 || status === 204 || status === 304 || method === 'HEAD') return null;
  if (headers.get('content-type')?.startsWith('application/scim+json')) return scimFault(status, body.toString());
  if (plain.test(headers.get('content-type') ?? ''))
    return status === 200 || status === 206 ? null : `status ${status} without an envelope`;
  return envelopeFault(status, body.toString());
}

/** Errors of SCIM have a form of their own. */
function scimFault(status: number, text: string): string | null {
  const { schemas = [], status: said } = JSON.parse(text) as { schemas?: string[]; status?: string };
  const isError = schemas.includes('urn:ietf:params:scim:api:messages:2.0:Error');
  if (status < 300) return isError ? `an error with status ${status}` : null;
  return isError && said === String(status) ? null : `status ${status} without an error of SCIM: ${text.slice(0, 200)}`;
}

/** The problems of an input: at least one, each with a field and a reason. */
const hasProblems = (details: unknown): boolean =>
  Array.isArray(details) &&
  details.length > 0 &&
  details.every(each => typeof each?.field === 'string' && typeof each.reason === 'string');

function envelopeFault(status: number, text: string): string | null {
  let envelope: Record<string, unknown>;
  try {
    envelope = JSON.parse(text);
  } catch {
    return `status ${status}, which is not JSON: ${text.slice(0, 200)}`;
  }
  if ('openapi' in envelope || 'item' in envelope) return null;
  const { code, message, data, details } = envelope;
  const properties = code === 1001 ? 'code,message,data,details' : 'code,message,data';
  if (Object.keys(envelope).join() !== properties || typeof message !== 'string')
    return `no envelope: ${text.slice(0, 200)}`;
  if (code === 1001 && !hasProblems(details)) return `no problems in the details: ${text.slice(0, 200)}`;
  if (code === SUCCESS) return status === 200 ? null : `code 200 with status ${status}`;
  if (typeof code !== 'number' || !isErrorCode(code)) return `unknown code ${code}`;
  if (data !== null) return `data with code ${code}`;
  const expected = [codes[code].http, ...(code === 1003 ? [401] : [])];
  return expected.includes(status as 400) ? null : `code ${code} with status ${status}`;
}

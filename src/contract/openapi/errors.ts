/** The errors of an operation: business codes grouped by HTTP status, with an example for each. */
import { Code, codes, type ErrorCode, httpStatus, isFinal } from '../codes.ts';
import { acceptsKey, errorsOf, type RouteShape } from '../define.ts';
import { errorExample } from './examples.ts';
import { everyHeader, header, json, limitHeaders, replayHeader } from './headers.ts';
import { type JsonObject, ref } from './schemas.ts';

interface ErrorGroup {
  readonly status: number;
  readonly codes: readonly ErrorCode[];
  /** The request was counted, so the response has the headers of the rate limit. */
  readonly counted: boolean;
}

/** Groups that many operations have in common. */
const shared: Readonly<Record<string, ErrorGroup>> = {
  LoggedOut: { status: 401, codes: [Code.tokenInvalid, Code.tokenExpired], counted: false },
  NoPermission: { status: 403, codes: [Code.noPermission], counted: true },
  RateLimited: { status: 429, codes: [429], counted: true },
  InternalError: { status: 500, codes: [500], counted: true },
  // Without the store, the request is not counted.
  StoreUnavailable: { status: 503, codes: [500], counted: false },
};

const keyOf = ({ status, codes, counted }: ErrorGroup) => `${status} ${codes.join()} ${counted}`;
const nameOf = new Map(Object.entries(shared).map(([name, group]) => [keyOf(group), name]));

/** `components.responses`. */
export function sharedResponses(): JsonObject {
  return Object.fromEntries(Object.entries(shared).map(([name, group]) => [name, response(group)]));
}

/** Any request may be unparseable, or sent by a page of another site. */
const everywhere: readonly ErrorCode[] = [Code.parameterError, Code.noPermission];

/** `responses` of an operation without its success. */
export function errorResponses(shape: RouteShape): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...new Set<ErrorCode>([...everywhere, ...errorsOf(shape)])].sort((a, b) => a - b)) {
    const status = httpStatus(code, shape.id === 'login');
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const entries = [...byStatus].map(([status, found]) => {
    // A request that fails the token check is not counted; login has no token check.
    const counted = shape.limit !== null && (status !== 401 || shape.access === 'public');
    const group = { status, codes: found, counted };
    const name = nameOf.get(keyOf(group));
    return [status, name ? { $ref: `#/components/responses/${name}` } : response(group, shape)];
  });
  // Without the store, neither a token nor a shared limit can be checked.
  if (shape.access !== 'public' || (shape.limit && shape.limit !== 'document'))
    entries.push([503, { $ref: '#/components/responses/StoreUnavailable' }]);
  return Object.fromEntries(entries);
}

function response({ status, codes: found, counted }: ErrorGroup, shape?: RouteShape): JsonObject {
  const code = { type: 'integer', enum: [...found] };
  return {
    description: found.map(each => `- ${each}: ${codes[each].meaning}`).join('\n'),
    headers: {
      ...everyHeader,
      ...(counted ? limitHeaders : {}),
      ...(shape && acceptsKey(shape) && found.some(isFinal) ? replayHeader : {}),
      ...(status === 412 ? { ETag: header('DeviceVersion') } : {}),
      ...(status === 429 || status === 503 ? { 'Retry-After': header('RetryAfter') } : {}),
    },
    content: {
      [json]: {
        schema: { allOf: [ref('Error'), { type: 'object', required: ['code'], properties: { code } }] },
        examples: Object.fromEntries(found.map(each => [codes[each].name, namedExample(each, status, shape)])),
      },
    },
  };
}

function namedExample(code: ErrorCode, status: number, shape: RouteShape | undefined): JsonObject {
  return { summary: `${code} ${codes[code].meaning}`, value: errorExample(code, status, shape) };
}

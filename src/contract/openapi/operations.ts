/** Operations of the contract as OpenAPI operation objects. */
import type { TObject } from 'typebox';
import { acceptsKey, acceptsVersion, hasEntityTag, type RouteShape, showsVersion, versionTags } from '../define.ts';
import { LIST } from '../fields.ts';
import { bodyBounds, idempotency, rateLimits } from '../limits.ts';
import { closeCodes, stream } from '../values.ts';
import { errorResponses } from './errors.ts';
import { dataExample, givenParameter, inputExample, suggested } from './examples.ts';
import { everyHeader, header, json, limitHeaders, replayHeader } from './headers.ts';
import { type JsonObject, ref, toForm, toOpenapi } from './schemas.ts';

/** Tag of the operations that are additions to the published interface. */
export const extensionTag = 'extension';

/** The operation object. */
export function operation(shape: RouteShape): JsonObject {
  const parameters = parametersOf(shape);
  return {
    operationId: shape.id,
    tags: shape.extension ? [shape.tag, extensionTag] : [shape.tag],
    summary: shape.summary,
    description: description(shape),
    security: security(shape),
    ...(parameters.length ? { parameters } : {}),
    ...requestBody(shape),
    responses: { ...success(shape), ...errorResponses(shape) },
    ...(shape.websocket ? { 'x-websocket': { pingSeconds: stream.pingSeconds, closeCodes } } : {}),
  };
}

function description(shape: RouteShape): string {
  return [shape.description, access(shape), rateLimit(shape), queryRule(shape), values(shape)]
    .filter(Boolean)
    .join('\n\n');
}

function queryRule({ strictQuery }: RouteShape): string | undefined {
  return strictQuery && 'An empty value or an unknown parameter of the query is refused with 1001.';
}

function values({ bodyValues, batchOf }: RouteShape): string | undefined {
  if (!bodyValues) return undefined;
  const items = batchOf
    ? `; more if all but ${bodyBounds.values.toLocaleString('en')} of them are items, their fields and tags`
    : '';
  return `The body has at most ${bodyValues.toLocaleString('en')} members and elements${items}.`;
}

function access({ access, ownUser, peopleOnly, tokenMay, anyTokenRole }: RouteShape): string {
  if (access === 'public') return 'No token is required.';
  if (access === 'loopback')
    return 'No token is required on the machine of the service; elsewhere, a token of any role but HOLDER.';
  const whatever = anyTokenRole ? ', whatever its role' : '';
  const needed = tokenMay ? ` A service token needs \`${tokenMay}\` in its \`may\`${whatever}.` : '';
  const people = peopleOnly ? ' Not for service tokens.' : needed;
  return `Roles: ${access.join(', ')}${ownUser ? '; every user for their own account' : ''}.${people}`;
}

const scopes = {
  login: 'a login',
  query: 'a query',
  modify: 'a modification',
  upload: 'an upload',
  document: 'a document',
  signIn: 'a step of a sign-in',
  decide: 'a request for decisions',
  unknownKey: 'an unknown key',
  holder: 'a request of a HOLDER',
} as const;

function rateLimit({ limit }: RouteShape): string {
  if (!limit) return 'Not rate limited.';
  const { count, seconds } = rateLimits[limit];
  return `Rate limit: counts as ${scopes[limit]} (by default ${count} in ${seconds} s).`;
}

function security({ access, websocket }: RouteShape): JsonObject[] {
  if (access === 'public') return [];
  if (access === 'loopback') return [{}, { bearerAuth: [] }];
  return websocket ? [{ streamToken: [] }, { bearerAuth: [] }] : [{ bearerAuth: [] }];
}

function parametersOf(shape: RouteShape): JsonObject[] {
  const query = parameters(shape, shape.query, 'query');
  return [
    ...parameters(shape, shape.params, 'path'),
    // The token of the stream is a security scheme.
    ...(shape.websocket ? query.filter(({ name }) => name !== 'token') : query),
    ...(shape.raw && shape.errors.includes(416) ? downloadHeaders : []),
    ...(hasEntityTag(shape) ? [copyHeader('response')] : []),
    ...(acceptsVersion(shape) ? [versionHeader] : []),
    ...(acceptsKey(shape) ? [keyHeader] : []),
  ];
}

function parameters(shape: RouteShape, group: TObject | undefined, place: 'path' | 'query'): JsonObject[] {
  if (!group) return [];
  const required = new Set((group as { required?: string[] }).required);
  return Object.entries(group.properties).map(([name, field]) => {
    const { description, example: _, ...schema } = toOpenapi(field);
    // Swagger UI fills in the example: on an optional filter it would hide results.
    const example = givenParameter(shape, name) ?? (required.has(name) ? suggested(field) : undefined);
    return {
      name,
      in: place,
      required: required.has(name),
      ...(description ? { description } : {}),
      // A list of values is sent as one parameter, texts of an array as one parameter each.
      ...(LIST in field ? { style: 'form', explode: false } : {}),
      ...((field as { type?: string }).type === 'array' ? { style: 'form', explode: true } : {}),
      schema,
      ...(example === undefined ? {} : { example }),
    };
  });
}

const keyHeader: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: `Makes it safe to send the request again: the first final response is stored for ${idempotency.hours} h and returned to each later request of the same user with this key. A random value, such as a UUID, for each new request. Another operation or body with the same key is refused with 1001; while the first request is running, the response is 429.`,
  schema: { type: 'string', minLength: 1, maxLength: idempotency.maxKey, pattern: '^[!-~]+$' },
};

const versionHeader: JsonObject = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'version of the device that the change is based on, in quotes: if the device has another one, nothing is changed and the response is 412',
  schema: { type: 'string', pattern: versionTags.source, example: '"3"' },
};

const copyHeader = (what: string): JsonObject => ({
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: `ETag of your copy: if the ${what} is unchanged, the response is 304`,
  schema: { type: 'string' },
});

const downloadHeaders: JsonObject[] = [
  {
    name: 'Range',
    in: 'header',
    required: false,
    description: 'the part of the file to send; one range',
    schema: { type: 'string' },
  },
  copyHeader('file'),
  {
    name: 'If-Range',
    in: 'header',
    required: false,
    description: 'ETag of the part you have: if the file is unchanged, the range is sent, else the whole file',
    schema: { type: 'string' },
  },
];

function requestBody(shape: RouteShape): JsonObject {
  if (shape.file) return { requestBody: { required: true, content: { 'multipart/form-data': form(shape) } } };
  if (!shape.body) return {};
  const content = { [json]: { schema: toOpenapi(shape.body), example: inputExample(shape) } };
  return { requestBody: { required: !shape.bodyOptional, content } };
}

function form({ file, form: fields, ...shape }: RouteShape): JsonObject {
  const schema = fields ? toForm(fields) : { type: 'object' };
  const name = file?.field ?? 'file';
  return {
    schema: {
      ...schema,
      required: [name, ...((schema.required as string[] | undefined) ?? [])],
      properties: {
        [name]: {
          type: 'string',
          format: 'binary',
          description: `${file?.description} (limit: ${file?.maxBytes} bytes)`,
        },
        ...(schema.properties as JsonObject | undefined),
      },
    },
    example: { [name]: '(content of the file)', ...inputExample({ ...shape, ...(fields ? { form: fields } : {}) }) },
    encoding: { [name]: { contentType: 'application/octet-stream' } },
  };
}

function success(shape: RouteShape): JsonObject {
  const headers = {
    ...everyHeader,
    ...(shape.limit ? limitHeaders : {}),
    ...(acceptsKey(shape) ? replayHeader : {}),
    ...(showsVersion(shape)
      ? { ETag: header('DeviceVersion') }
      : hasEntityTag(shape)
        ? { ETag: header('ResponseTag') }
        : {}),
  };
  if (shape.websocket) return upgrade();
  if (shape.raw) return rawResponses(shape, headers);
  const data = shape.data ? toOpenapi(shape.data) : {};
  const properties = { code: { type: 'integer', enum: [200] }, data };
  const schema = { allOf: [ref('Envelope'), { type: 'object', required: ['code', 'data'], properties }] };
  const example = { code: 200, message: 'success', data: dataExample(shape) };
  const done = { description: 'success', headers, content: { [json]: { schema, example } } };
  if (hasEntityTag(shape)) return { 200: done, 304: { description: 'your copy is up to date', headers } };
  return shape.unready ? { 200: done, 503: unready(shape.unready, headers, data) } : { 200: done };
}

function unready(description: string, headers: JsonObject, data: JsonObject): JsonObject {
  const properties = { code: { type: 'integer', enum: [500] }, data };
  const schema = { allOf: [ref('Envelope'), { type: 'object', required: ['code', 'data'], properties }] };
  return { description, headers: { ...headers, 'Retry-After': header('RetryAfter') }, content: { [json]: { schema } } };
}

function upgrade(): JsonObject {
  const description =
    'The connection is now a WebSocket. Each text frame from the service is one JSON document of this shape. The service expects no frames.';
  const refused = 'A response without an upgrade is an error in the envelope.';
  return {
    101: { description, headers: everyHeader, content: { [json]: { schema: ref('Notification') } } },
    default: { description: refused, headers: everyHeader, content: { [json]: { schema: ref('Error') } } },
  };
}

function rawResponses(shape: RouteShape, headers: JsonObject): JsonObject {
  const { contentType, also, description } = shape.raw ?? { contentType: json, description: '' };
  if (shape.raw?.status)
    return {
      [shape.raw.status]: { description, headers },
      default: {
        description: 'A refusal, in the envelope.',
        headers: everyHeader,
        content: { [json]: { schema: ref('Error') } },
      },
    };
  const structured = contentType === json;
  const download = shape.errors.includes(416);
  const schema = structured
    ? { type: 'object', additionalProperties: true }
    : { type: 'string', ...(download ? { format: 'binary' } : {}) };
  const content = { [contentType]: { schema }, ...(also ? { [also]: { schema } } : {}) };
  if (!download) return { 200: { description, headers, content } };
  const fileHeaders = { ...headers, ETag: header('ETag') };
  const sent = { ...fileHeaders, 'Content-Disposition': header('ContentDisposition') };
  return {
    200: { description, headers: { ...sent, 'Accept-Ranges': header('AcceptRanges') }, content },
    206: {
      description: 'the requested range',
      headers: { ...sent, 'Content-Range': header('ContentRange') },
      content,
    },
    304: { description: 'your copy is up to date', headers: fileHeaders },
  };
}

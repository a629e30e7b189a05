/** Schemas of the contract as OpenAPI 3.0.3 schema objects. Shared schemas have a name and are referenced. */
import type { TSchema } from 'typebox';
import { administrationEvents, hardwareEvents, journalEvents } from '../events.ts';
import { LIST, SHAPE, TEXT } from '../fields.ts';
import { isObject } from '../json-object.ts';
import { paged } from '../paging.ts';
import { user } from '../users.ts';
import { type NamedSchema, namedSchemas } from './names.ts';

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
/** A JSON object; a property that is undefined is left out of the text. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

type Raw = Record<string, Json>;

const pageProperties = Object.keys(paged(user).properties).join();
const isPage = (schema: Raw) => isObject(schema.properties) && Object.keys(schema.properties).join() === pageProperties;

/** Schemas are compared by their JSON: marking a field as optional copies its schema. */
const named = new Map<string, Omit<NamedSchema, 'schema'>>();
for (const { name, schema, description } of namedSchemas()) {
  const text = JSON.stringify(schema);
  if (!named.has(text) && !isPage(JSON.parse(text))) named.set(text, { name, description });
}

/** A reference to a schema of `components.schemas`. */
export const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** A device in the data of an error. */
const namedDevice = (description: string): JsonObject => ({
  type: 'object',
  nullable: true,
  properties: { deviceId: { type: 'string' }, serialNumber: { type: 'string' } },
  description,
});

/** Data of an error for clients that know how to continue. */
const howToContinue: JsonObject = {
  stepUp: { type: 'boolean', description: 'true: sign in again (POST /api/auth/step-up), then send the request again' },
  registerKey: { type: 'boolean', description: 'true: this account has to register a security key first' },
  allowRegistration: {
    type: 'boolean',
    description: 'true: an ADMIN has to allow a registration (POST /api/users/{userId}/allow-registration)',
  },
  secondFactor: {
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description: 'options for the second step of a login; null if keys cannot be used at this address',
  },
  loginTicket: { type: 'string', description: 'to be sent with the second step of a login' },
  credential: namedDevice('the device whose credential the key has'),
  expected: namedDevice('the device that the key should be; null if it should be a new one'),
};

/** The OpenAPI form of a schema; a shared schema becomes a reference. */
export function toOpenapi(schema: TSchema): JsonObject {
  return convert(JSON.parse(JSON.stringify(schema)) as Raw);
}

/** The OpenAPI form of the fields of a form, to which the file is added: it has no name. */
export const toForm = (schema: TSchema): JsonObject => convertBody(JSON.parse(JSON.stringify(schema)) as Raw);

function convert(schema: Raw): JsonObject {
  const known = named.get(JSON.stringify(schema));
  if (known) return ref(known.name);
  return isPage(schema) ? page(schema) : convertBody(schema);
}

function convertBody(schema: Raw): JsonObject {
  const options = schema.anyOf as readonly Raw[] | undefined;
  const present = options?.filter(option => option.type !== 'null') ?? [];
  if (present.length === 1) return orNull(convert(present[0] as Raw));
  const values = schema[LIST];
  if (Array.isArray(values)) return oneOrMore(values, schema.description as string);
  const {
    examples,
    properties,
    items,
    additionalProperties: others,
    description,
    const: only,
    anyOf: _,
    ...rest
  } = schema;
  const standard = Object.fromEntries(Object.entries(rest).filter(([keyword]) => !keyword.startsWith('x-')));
  const words = [description, schema[SHAPE]].filter(part => typeof part === 'string');
  return {
    ...standard,
    ...(words.length ? { description: words.join('; ') } : {}),
    // OpenAPI 3.0 has no const.
    ...(only === undefined ? {} : { enum: [only] }),
    ...(options ? { anyOf: options.map(convert) } : {}),
    ...(schema[TEXT] === 'raw' ? { format: 'password' } : {}),
    ...(Array.isArray(examples) ? { example: examples[0] } : {}),
    ...(isObject(properties) ? { properties: mapValues(properties, convert) } : {}),
    ...(others === undefined ? {} : { additionalProperties: isObject(others) ? convert(others as Raw) : others }),
    ...(isObject(items) ? { items: convert(items as Raw) } : {}),
  };
}

/** One value or several: a client passes either a text or an array, which is sent with commas between the values. */
function oneOrMore(values: readonly Json[], description: string): JsonObject {
  const one = { type: 'string', enum: values };
  return { description, anyOf: [one, { type: 'array', items: one, minItems: 1 }] };
}

/** In OpenAPI 3.0, null must also be one of the values of an enumeration, and what stands beside a reference does not count. */
function orNull(schema: JsonObject): JsonObject {
  if (schema.$ref) return { anyOf: [schema, { type: 'object', nullable: true, enum: [null] }] };
  const values = schema.enum;
  return { ...schema, nullable: true, ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}

function page(schema: Raw): JsonObject {
  const list = (schema.properties as JsonObject).list as Raw;
  return { allOf: [ref('Page'), { type: 'object', required: ['list'], properties: { list: convert(list) } }] };
}

function mapValues(object: JsonObject, change: (value: Raw) => JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value as Raw)]));
}

/** `components.schemas`. */
export function sharedSchemas(): JsonObject {
  const records = [...named]
    .reverse()
    .map(([text, { name, description }]) => [name, { description, ...convertBody(JSON.parse(text) as Raw) }]);
  return { ...envelopes(), ...pages(), ...Object.fromEntries(records), ...notifications() };
}

function envelopes(): JsonObject {
  return {
    Envelope: {
      type: 'object',
      description: 'Every JSON response has this shape.',
      required: ['code', 'message', 'data'],
      properties: {
        code: { type: 'integer', description: '200 on success, else a business code', example: 200 },
        message: { type: 'string', description: 'the result in words', example: 'success' },
        data: { description: 'the result; null on errors' },
      },
    },
    Error: {
      description: 'An error',
      allOf: [
        ref('Envelope'),
        {
          type: 'object',
          required: ['data'],
          properties: {
            data: {
              type: 'object',
              nullable: true,
              additionalProperties: false,
              minProperties: 1,
              properties: howToContinue,
              description: 'null, or how to continue; see the description of the operation',
            },
            details: {
              type: 'array',
              description: 'of a 1001 alone: all problems of the input',
              items: {
                type: 'object',
                required: ['field', 'reason'],
                properties: {
                  field: { type: 'string', description: 'path of the field; empty for the request as a whole' },
                  reason: { type: 'string', description: 'text that follows the name of the field' },
                  allowed: { type: 'array', items: { type: 'string' }, description: 'the values that the field takes' },
                },
              },
            },
          },
        },
      ],
    },
  };
}

function pages(): JsonObject {
  const { properties } = convertBody(JSON.parse(JSON.stringify(paged(user))) as Raw) as { properties: JsonObject };
  return {
    Pagination: { description: 'Position of a page in the list', ...(properties.pagination as JsonObject) },
    Page: {
      type: 'object',
      description: 'One page of a list',
      required: ['list', 'pagination'],
      properties: {
        list: { type: 'array', items: {}, description: 'the records of this page' },
        pagination: ref('Pagination'),
      },
    },
  };
}

const pascal = (type: string) =>
  type.replace(/(?:^|_)([A-Z])([A-Z]*)/g, (_, first, more) => first + more.toLowerCase());

/** A frame of the stream: one schema per type of event, with `type` as the discriminator. */
function notifications(): JsonObject {
  const frames: [type: string, schema: TSchema, journaled: boolean][] = [
    ...[...journalEvents, ...administrationEvents].map(([type, schema]): [string, TSchema, boolean] => [
      type,
      schema,
      true,
    ]),
    ...Object.entries(hardwareEvents).map(([type, schema]): [string, TSchema, boolean] => [type, schema, false]),
  ];
  const name = (type: string) => `${pascal(type)}Notification`;
  return {
    Notification: {
      description: 'A frame of the notification stream',
      oneOf: frames.map(([type]) => ref(name(type))),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(frames.map(([type]) => [type, ref(name(type)).$ref])),
      },
    },
    ...Object.fromEntries(frames.map(([type, data, journaled]) => [name(type), frame(type, data, journaled)])),
  };
}

function frame(type: string, data: TSchema, journaled: boolean): JsonObject {
  const id = {
    type: 'integer',
    minimum: 1,
    description: 'position of the event in the journal; send it as since to resume after it',
    example: 41,
  };
  return {
    type: 'object',
    required: [...(journaled ? ['id'] : []), 'type', 'timestamp', 'data'],
    properties: {
      ...(journaled ? { id } : {}),
      type: { type: 'string', enum: [type] },
      timestamp: {
        type: 'string',
        format: 'date-time',
        description: 'when it happened',
        example: '2026-03-01T08:30:00.000Z',
      },
      data: toOpenapi(data),
    },
  };
}

import { Type } from 'typebox';
import { administrationEventTypes } from './administration-events.ts';
import { Code } from './codes.ts';
import { operations } from './define.ts';
import { hardwareEventTypes, journalEventTypes } from './event-types.ts';
import { notification } from './events.ts';
import { boolean, count, instant, line, nullable, oneOf, shown, token, whole } from './fields.ts';
import { driverStatus } from './hardware.ts';
import { eventPage, textLengths } from './limits.ts';
import { roles } from './values.ts';

const types = Type.Optional(
  line(2000, {
    description: `comma-separated: ${[...journalEventTypes, ...hardwareEventTypes].join(', ')}; for the role ADMIN also ${administrationEventTypes.join(', ')}`,
    examples: ['DEVICE_ACTIVATED'],
  }),
);
const ofDevice = (description: string) => Type.Optional(token({ description, examples: ['DEV-1'] }));

const document = { extension: true, limit: 'document' } as const;

const { extension: _, ...published } = document;

/** Events, health and documents. */
export const systemOperations = operations('System', {
  /** HTTP 200 if the daemon is ready, else 503 with the same data. */
  getHealth: {
    summary: 'Report whether the service is alive and ready',
    extension: true,
    limit: null,
    description:
      'HTTP 503 if no requests should be sent to this daemon: it is stopping, its store accepts no changes, or it does not receive the changes of other daemons. With `nonce`, the response also proves which registry answers. The proof counts as one query of the client address; beyond the limit the response is 429.',
    query: Type.Object({
      nonce: Type.Optional(
        line(86, {
          minLength: 22,
          pattern: '^[A-Za-z0-9_-]+$',
          shape: '16 to 64 random bytes in base64url',
          description: '16 to 64 random bytes in base64url, to be signed',
        }),
      ),
    }),
    data: Type.Object({
      status: oneOf(['ok', 'degraded'] as const, {
        description: 'degraded: alive, but not ready',
      }),
      service: shown('name of the service', 'devmgr'),
      version: shown('version of the service', '0.1.0'),
      ready: Type.Boolean(),
      reason: nullable(shown('why the daemon is not ready; null if it is')),
      node: shown('name of the daemon', 'node-1'),
      idempotencyKeys: boolean(
        'whether writes accept the header Idempotency-Key; absent in earlier versions, which ignore it',
      ),
      store: Type.Object({ state: oneOf(['ready', 'unavailable'] as const), detail: shown('the state in words') }),
      drivers: Type.Array(driverStatus),
      uptimeSeconds: count('seconds since the start'),
      identity: Type.Optional(
        Type.Object(
          {
            instanceId: shown('first 128 bits of the SHA-256 of the public key, in hex'),
            publicKey: shown('Ed25519 key as SubjectPublicKeyInfo (DER) in base64url'),
            address: shown('address at which the request arrived; `unix` on the Unix socket', '127.0.0.1:7470'),
            signature: shown(
              'Ed25519 in base64url over the lines `devmgr instance 1`, instanceId, nonce and address, each with a line feed',
            ),
          },
          { description: 'only with `nonce`' },
        ),
      ),
    }),
    errors: [429],
    unready: 'the daemon is not ready; `message` and `reason` say why',
  },

  /** Past events. KEY_* events are live only, so none of them is returned. */
  listEvents: {
    tag: 'Notifications',
    summary: 'List past events',
    description:
      'The events as the notification stream sends them. With `before`, the highest ids come first; otherwise the lowest after `after`. An ADMIN also gets the changes of administration; for others, their types are unknown (1001). `actor`, `from` and `to` are for the role ADMIN (2007).',
    extension: true,
    access: roles,
    query: Type.Object({
      deviceId: ofDevice('only events of this device'),
      types,
      after: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'only events with higher ids' })),
      before: Type.Optional(count('only events with lower ids, descending; may exceed head')),
      actor: Type.Optional(
        line(textLengths.actor, { description: 'only what this user, or token:NAME, has done', examples: ['admin'] }),
      ),
      from: Type.Optional(instant('only events at this time or later')),
      to: Type.Optional(instant('only events before this time')),
      limit: Type.Optional(whole('number of events', { min: 1, max: eventPage.max, default: eventPage.default })),
    }),
    data: Type.Object({
      list: Type.Array(notification),
      head: count('id of the last event that the stream can carry; 0 if there is none'),
    }),
    errors: [Code.deviceNotFound],
    example: {
      data: {
        list: [
          {
            id: 41,
            type: 'DEVICE_UNLOCKED',
            timestamp: '2026-03-01T08:30:00.000Z',
            data: { deviceId: 'DEV-1', deviceType: 'UKEY' },
            actor: { name: 'admin', kind: 'user' },
          },
        ],
        head: 41,
      },
    },
  },

  /** A refused upgrade is answered with an envelope. */
  streamNotifications: {
    tag: 'Notifications',
    summary: 'WebSocket stream of notifications',
    description:
      'With `since`, every later event of the journal is sent first, then the live ones, with no gap and no repeat within a connection. An ADMIN also gets the changes of administration. Close codes: 1001 the service is stopping, 4401 logged out, 4409 the consumer is too slow.',
    access: [...roles, 'LOCAL'],
    limit: null,
    websocket: true,
    query: Type.Object({
      token: Type.Optional(line(4096, { description: 'JWT; may be sent in the header Authorization instead' })),
      code: Type.Optional(
        line(200, {
          description: 'single-use code of the purpose STREAM, instead of a token; a refused request uses it up too',
        }),
      ),
      since: Type.Optional(count('id of the last event that the client has')),
      types,
      deviceId: ofDevice('only events of this device; then no KEY_* events are sent'),
    }),
    data: notification,
    errors: [429, Code.deviceNotFound],
  },

  /** Part of the published interface, unlike the other documents. */
  getSwaggerPage: {
    ...published,
    summary: 'This page',
    raw: { contentType: 'text/html', description: 'Swagger UI' },
  },

  /** Generated from this contract. */
  getOpenapiJson: {
    ...document,
    summary: 'OpenAPI document as JSON',
    raw: { contentType: 'application/json', description: 'OpenAPI 3.0.3' },
  },

  /** The document of `getOpenapiJson` as YAML. */
  getOpenapiYaml: {
    ...document,
    summary: 'OpenAPI document as YAML',
    raw: { contentType: 'application/yaml', description: 'OpenAPI 3.0.3' },
  },

  /** Its variable base_url is the address it was fetched from. */
  getPostmanCollection: {
    ...document,
    summary: 'Postman collection',
    raw: { contentType: 'application/json', description: 'Postman collection 2.1' },
  },

  /** From loopback without a token, unless the request was forwarded by a proxy or the daemon is set up for one. */
  getMetrics: {
    extension: true,
    limit: null,
    summary: 'Metrics in the Prometheus text format',
    access: 'loopback',
    raw: { contentType: 'text/plain', description: 'Prometheus text format' },
  },
});

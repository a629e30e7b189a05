/** The OpenAPI 3.0.3 document of the interface, generated from the table of operations. */

import { sharedResponses } from './openapi/errors.ts';
import { headers } from './openapi/headers.ts';
import { extensionTag, operation } from './openapi/operations.ts';
import { type JsonObject, sharedSchemas } from './openapi/schemas.ts';
import { routes } from './routes.ts';

/** An OpenAPI document as plain JSON. */
type OpenapiDocument = JsonObject & {
  readonly openapi: string;
  readonly paths: JsonObject;
  readonly components: JsonObject;
};

const interfaceVersion = 'v1.0';

const description = `Registers hardware security keys, activates them for users, and locks, unlocks and deactivates them.

Every JSON response is an envelope of \`code\`, \`message\` and \`data\`; \`code\` is 200 on success and a business code otherwise.
Checks come in this order: route, token, rate limit, role, parameters, existence, state, then password or activation code.
Operations under the tag \`${extensionTag}\` are additions to the published interface ${interfaceVersion}.

This document: [JSON](/api/openapi.json), [YAML](/api/openapi.yaml). As a Postman collection: [JSON](/api/postman.json).`;

const tags: Readonly<Record<string, string>> = {
  Authentication: 'Log in and refresh the token',
  'Security keys of users': 'Security keys with which users sign in',
  'Single sign-on': 'Sign in at an OpenID Connect provider',
  Devices: 'The life of a device from registration to deactivation',
  'Application versions': 'Installer packages for the users of the devices',
  Backups: 'Encrypted backups of devices',
  Users: 'Who may log in, and with which role',
  'Service tokens': 'Tokens of programs',
  Persons: 'People who have devices, and what happens when they leave',
  Directory: 'Persons from an LDAP directory',
  Providers: 'Identity providers at which keys are issued, and stored PINs',
  Proofs: 'What a key proves about itself, and what is required',
  Trust: 'Certificates and metadata that proofs are checked against',
  Identity: 'Keys that are recognized by a credential',
  Receipts: 'Receipts that keys sign',
  'Own keys': 'The devices of a HOLDER',
  Decisions: 'Whether a key may be used now',
  Notifications: 'Events as they happen',
  Webhooks: 'Events posted to endpoints',
  Hardware: 'The keys that are plugged into the machine of the service',
  System: 'Health and the documents of the interface',
  [extensionTag]: `Additions to the published interface ${interfaceVersion}`,
};

/**
 * Builds the document.
 * @param version version of the program, shown as `x-program-version`; `info.version` is that of the interface
 * @param serverUrl base of the paths; by default the address the document was fetched from
 */
export function buildOpenapi(version: string, serverUrl = '/'): OpenapiDocument {
  return {
    openapi: '3.0.3',
    info: {
      title: 'Device Management and Access Service',
      version: interfaceVersion,
      'x-program-version': version,
      description,
      contact: { name: 'devmgr contributors' },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(tags).map(([name, words]) => ({ name, description: words })),
    paths: paths(),
    components: { securitySchemes, headers, responses: sharedResponses(), schemas: sharedSchemas() },
  };
}

function paths(): JsonObject {
  const found: Record<string, Record<string, JsonObject>> = {};
  for (const shape of Object.values(routes)) {
    found[shape.path] = { ...found[shape.path], [shape.method.toLowerCase()]: operation(shape) };
  }
  return found;
}

const securitySchemes = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token that login returns, valid for 24 hours.',
  },
  streamToken: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'The same token as a query parameter: browsers cannot set headers on a WebSocket.',
  },
};

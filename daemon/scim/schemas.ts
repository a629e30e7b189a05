/** Capabilities of the service provider, and the schemas of its resources (RFC 7643, sections 5 to 7). */
import { schemaIds } from './users.ts';

/** Most resources of one response, and how many there are without `count`. */
export const pageBounds = { max: 200, default: 100 } as const;

interface Options {
  readonly type?: 'string' | 'boolean' | 'complex' | 'reference';
  readonly multiValued?: true;
  readonly required?: true;
  readonly caseExact?: true;
  readonly mutability?: 'readWrite' | 'readOnly' | 'immutable';
  readonly uniqueness?: 'none' | 'server';
  readonly subAttributes?: readonly object[];
}

const attribute = (name: string, description: string, options: Options = {}) => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...options,
});
const readOnly = { mutability: 'readOnly' } as const;

const userAttributes = [
  attribute('userName', 'Name that devices are bound to', { required: true, uniqueness: 'server' }),
  attribute('name', 'Parts of the name', {
    type: 'complex',
    subAttributes: ['formatted', 'givenName', 'familyName'].map(name => attribute(name, name)),
  }),
  attribute('displayName', 'Full name'),
  attribute('emails', 'E-mail addresses. Without a primary one, that of work or the first is used', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'Address'),
      attribute('type', 'Kind of the address, such as work'),
      attribute('primary', 'Whether the registry uses this address', { type: 'boolean' }),
    ],
  }),
  attribute('active', 'False locks the devices of the person', { type: 'boolean' }),
  attribute('groups', 'Groups of the person', {
    type: 'complex',
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute('value', 'Id of the group', readOnly),
      attribute('$ref', 'Address of the group', { type: 'reference', ...readOnly }),
      attribute('display', 'Name of the group', readOnly),
    ],
  }),
];

const groupAttributes = [
  attribute('displayName', 'Name of the group', { required: true, uniqueness: 'server' }),
  attribute('members', 'Persons of the group', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'Id of the person', { mutability: 'immutable' }),
      attribute('$ref', 'Address of the person', { type: 'reference', mutability: 'immutable' }),
      attribute('display', 'User name', readOnly),
      attribute('type', 'Always User', { mutability: 'immutable' }),
    ],
  }),
];

const deviceAttributes = [
  attribute('lockedDevices', 'Devices that stay locked although the person is back', {
    multiValued: true,
    ...readOnly,
  }),
];

const schemaOf = (base: string, id: string, name: string, attributes: readonly object[]) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
  id,
  name,
  description: name,
  attributes,
  meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
});

/** The schemas of the resources. */
export const schemas = (base: string) => [
  schemaOf(base, schemaIds.user, 'User', userAttributes),
  schemaOf(base, schemaIds.group, 'Group', groupAttributes),
  schemaOf(base, schemaIds.devices, 'Devices of a user', deviceAttributes),
];

const typeOf = (base: string, name: 'User' | 'Group', extensions: readonly string[]) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  id: name,
  name,
  endpoint: `/${name}s`,
  description: name,
  schema: name === 'User' ? schemaIds.user : schemaIds.group,
  schemaExtensions: extensions.map(schema => ({ schema, required: false })),
  meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
});

/** The types of resources. */
export const resourceTypes = (base: string) => [typeOf(base, 'User', [schemaIds.devices]), typeOf(base, 'Group', [])];

/** Capabilities of the service provider. */
export const serviceProviderConfig = (base: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: pageBounds.max },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Service token',
      description: 'Authorization: Bearer TOKEN, with a service token that may use SCIM',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

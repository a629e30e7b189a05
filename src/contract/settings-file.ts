/**
 * The settings of a registry as one file: the rows of what it has, and its schema, made from the operations that each row names. The
 * command line reads, compares and writes such files; the daemon does not know them.
 */
import type { RouteName } from './endpoints.ts';
import { EACH, line, SHAPE, TEXT } from './fields.ts';
import { isObject } from './json-object.ts';
import { routes } from './routes.ts';
import { isOwnType, type ProviderType, removedEmail, roles } from './values.ts';

/** An item of a list, or a record, as a response has it. */
export type SettingsItem = Readonly<Record<string, unknown>>;

interface Common {
  /** Name in the file; a policy is in the object `policies`. */
  readonly place: string;
  /** One of them, in words. */
  readonly words: string;
  /** Comment of an exported file. */
  readonly about: string;
  /** What else the file shows of a record that the registry has. */
  readonly derived?: (item: SettingsItem) => SettingsItem;
  /** Whether the registry needs the secret of this record: an export then has a reference to a variable. */
  readonly hasSecret?: (item: SettingsItem) => boolean;
}

/** A record that a registry has once, and that a request replaces. */
export interface OneSetting extends Common {
  readonly show: RouteName;
  readonly set: RouteName;
  /** The stored secret is kept while these fields stay. */
  readonly secretFor?: readonly string[];
}

/** A list of records, each with a name of its own. */
export interface ListedSetting extends Common {
  readonly list: RouteName;
  /** Field that names a record in the file. */
  readonly key: string;
  /** Field with its id, which is also the path parameter unless `param` names another one. */
  readonly id: string;
  readonly param?: string;
  readonly create: RouteName;
  /** Absent if a record cannot be changed. */
  readonly update?: RouteName;
  /** A field of the file that two operations set: to true, and to false. */
  readonly switch?: { readonly field: string; readonly on: RouteName; readonly off: RouteName };
  readonly remove: RouteName;
  /** Body of `remove`, if it has one. */
  readonly removal?: SettingsItem;
  /** Field of the response to `create` with a secret that the registry has made, and what it is called. */
  readonly made?: string;
  /** Whether the file cannot have the record, and `apply` ignores it. */
  readonly ignores?: (item: SettingsItem) => boolean;
  /** Whether no other record can have the name of one that is ignored. */
  readonly keepsName?: true;
  /** Whether the record was removed: it keeps its name, but is neither exported nor removed again. */
  readonly isRemoved?: (item: SettingsItem) => boolean;
  /** Fields of a removed record that is in the file again, unless the file has them. */
  readonly restored?: SettingsItem;
  /** The key as the registry stores it. */
  readonly stored?: (key: string) => string;
}

/** A row: one kind of setting. */
export type SettingsRow = OneSetting | ListedSetting;

/** Whether the row is a list. */
export const isListed = (row: SettingsRow): row is ListedSetting => 'list' in row;

const day = 24 * 60 * 60_000;
const milliseconds = (time: unknown): number => Date.parse(String(time));

/** The address as a webhook has it: as browsers write it, without a fragment. */
function storedUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  url.hash = '';
  return url.href;
}

/** An account that the command line has removed. */
const removed = { disabled: true, email: removedEmail } as const;

/** What a file has, in the order in which it is applied: a sign-in comes after the accounts, and the rules come last. */
export const settingsRows: readonly SettingsRow[] = [
  {
    ...{ place: 'accounts', words: 'account', key: 'username', id: 'id', param: 'userId' },
    about:
      'Accounts, without passwords, and without those that single sign-on made. A new one without `password` gets a random password, which no one knows.',
    ...{ list: 'listUsers', create: 'createUser', update: 'updateUser', remove: 'updateUser', removal: removed },
    ignores: ({ role, sso }) => sso === true || !(roles as readonly unknown[]).includes(role),
    keepsName: true,
    restored: { disabled: false, email: null },
    isRemoved: ({ disabled, email }) => disabled === true && email === removed.email,
  },
  {
    ...{ place: 'tokens', words: 'service token', key: 'name', id: 'tokenId', made: 'token' },
    about: 'Service tokens, without their texts. A token cannot be changed: give the new one another name.',
    ...{ list: 'listTokens', create: 'createToken', remove: 'revokeToken' },
    ignores: ({ revokedAt }) => revokedAt !== null,
    derived: ({ createdAt, expiresAt }) => ({
      expiresInDays: Math.round((milliseconds(expiresAt) - milliseconds(createdAt)) / day),
    }),
  },
  {
    ...{ place: 'providers', words: 'provider', key: 'name', id: 'providerId' },
    about: 'Providers at which keys are issued. A provider cannot be changed.',
    ...{ list: 'listProviders', create: 'createProvider', remove: 'removeProvider' },
    hasSecret: ({ type }) => !isOwnType(type as ProviderType),
  },
  {
    ...{ place: 'webhooks', words: 'webhook', key: 'url', id: 'webhookId', made: 'secret', stored: storedUrl },
    about: 'Webhooks. Only `enabled` can be changed. The registry makes a secret for a new one without `secret`.',
    ...{ list: 'listWebhooks', create: 'createWebhook', remove: 'removeWebhook' },
    switch: { field: 'enabled', on: 'enableWebhook', off: 'disableWebhook' },
    derived: ({ state }) => ({ enabled: state !== 'disabled' }),
  },
  {
    ...{ place: 'directory', words: 'directory', show: 'showDirectory', set: 'setDirectory' },
    about: 'Persons from an LDAP directory.',
    secretFor: ['url', 'bindDn'],
    hasSecret: ({ bindDn }) => bindDn !== null,
  },
  {
    ...{ place: 'singleSignOn', words: 'single sign-on', show: 'showSsoSettings', set: 'setSso' },
    about: 'Sign-in at a provider of OpenID Connect.',
    secretFor: ['issuer', 'clientId'],
    hasSecret: () => true,
  },
  {
    ...{ place: 'policies.people', words: 'policy for persons', show: 'showPeoplePolicy', set: 'setPeoplePolicy' },
    about: 'Rules for persons and leavers.',
  },
  {
    ...{ place: 'policies.pin', words: 'policy for PINs', show: 'showPinPolicy', set: 'setPinPolicy' },
    about: 'Who can read PINs that stations create.',
  },
  {
    ...{ place: 'policies.proof', words: 'policy for proofs', show: 'showProofPolicy', set: 'setProofPolicy' },
    about: 'What a key must prove to be registered.',
  },
  {
    ...{ place: 'policies.signIn', words: 'policy for sign-in', show: 'showSignInPolicy', set: 'setSignInPolicy' },
    about: 'Roles that must sign in with a security key.',
  },
];

/** A schema as plain JSON. */
export interface PlainSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, PlainSchema>>;
  readonly items?: PlainSchema;
  readonly anyOf?: readonly PlainSchema[];
}

/** A secret in the file. */
export const secretReference = /^(?:env:([A-Za-z_][A-Za-z0-9_]*)|file:(.+))$/;
const referenceRule = {
  pattern: '^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$',
  shape: 'a reference, because secrets are not in this file: env:NAME or file:PATH',
};

/** Whether a field of an operation is a secret. */
export const isSecretField = (schema: PlainSchema): boolean =>
  schema[TEXT] === 'raw' || (schema.anyOf?.some(isSecretField) ?? false);

const bodies = new Map<RouteName, PlainSchema>();

/** The body of an operation, as plain JSON. */
export function bodySchema(operation: RouteName): PlainSchema {
  const { body = { properties: {} } } = routes[operation] as { readonly body?: unknown };
  const found = bodies.get(operation) ?? (JSON.parse(JSON.stringify(body)) as PlainSchema);
  bodies.set(operation, found);
  return found;
}

const mapped = (schemas: Readonly<Record<string, PlainSchema>>, change: (schema: PlainSchema) => PlainSchema) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)]));

/** A schema of an operation for the file: secrets are references, and with `isPartial` any field can be left out. */
function inFile(schema: PlainSchema, isPartial: boolean): PlainSchema {
  if (schema[TEXT] === 'raw') {
    const { description } = schema;
    return { ...JSON.parse(JSON.stringify(line(1024, referenceRule))), description };
  }
  const { required = [], [EACH]: _, ...rest } = schema;
  const { properties = {} } = rest;
  const isNeeded = (name: string) => !isPartial && !isSecretField(properties[name] ?? {});
  return {
    ...rest,
    ...(rest.anyOf && { anyOf: rest.anyOf.map(one => inFile(one, isPartial)) }),
    ...(rest.properties && {
      properties: mapped(properties, one => inFile(one, isPartial)),
      required: required.filter(isNeeded),
    }),
  };
}

const enabledSchema: PlainSchema = { type: 'boolean', description: 'whether events are posted; true if absent' };

/** The schema of a row in the file: of the record, or of one item of the list. */
export function recordSchema(row: SettingsRow): PlainSchema {
  if (!isListed(row)) return inFile(bodySchema(row.set), true);
  const created = inFile(bodySchema(row.create), false);
  const changed = row.update ? inFile(bodySchema(row.update), true).properties : {};
  const switched = row.switch ? { [row.switch.field]: enabledSchema } : {};
  return { ...created, properties: { ...changed, ...created.properties, ...switched } };
}

const object = (properties: Readonly<Record<string, PlainSchema>>, description: string): PlainSchema => ({
  type: 'object',
  description,
  properties,
});
const mostItems = 10_000;

/** The schema of a file, as the reader of the contract takes it. */
export function settingsSchema(): PlainSchema {
  const parts = settingsRows.map(row => {
    const record = recordSchema(row);
    const { about: description } = row;
    return [
      row.place,
      isListed(row) ? { type: 'array', items: record, maxItems: mostItems, description } : { ...record, description },
    ] as const;
  });
  const isPolicy = ([place]: (typeof parts)[number]) => place.startsWith(policies);
  const ofPolicies = parts.filter(isPolicy).map(([place, schema]) => [place.slice(policies.length), schema] as const);
  return {
    ...object(
      {
        devmgr: { type: 'integer', minimum: 1, maximum: 1, description: 'version of this form of file' },
        ...Object.fromEntries(parts.filter(part => !isPolicy(part))),
        policies: object(Object.fromEntries(ofPolicies), 'Policies of the registry.'),
      },
      'Settings of a devmgr registry: devmgr settings export, devmgr settings apply',
    ),
    required: ['devmgr'],
  };
}
const policies = 'policies.';

/** The schema for editors and other programs (JSON Schema). */
export function publishedSchema(): PlainSchema {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...published(settingsSchema()) };
}

function published(schema: PlainSchema): PlainSchema {
  const standard = Object.entries(schema).filter(([keyword]) => !keyword.startsWith('x-'));
  const words = [schema.description, schema[SHAPE]].filter(text => typeof text === 'string');
  return {
    ...Object.fromEntries(standard),
    ...(words.length > 0 && { description: words.join('; ') }),
    ...(schema.properties && { properties: mapped(schema.properties, published), additionalProperties: false }),
    ...(isObject(schema.items) && { items: published(schema.items as PlainSchema) }),
    ...(schema.anyOf && { anyOf: schema.anyOf.map(published) }),
  };
}

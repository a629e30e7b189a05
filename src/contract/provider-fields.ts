/**
 * The fields of a provider besides its name, type and secret. Requests, responses, records, flags and forms are made from this table. Plain
 * data, without schemas.
 */
import type { ProviderType } from './values.ts';

/** A field. */
export interface ProviderField {
  /** Types of provider that need it, and those that may have it: Entra ID has addresses of its own in national clouds. */
  readonly needed: readonly ProviderType[];
  readonly allowed?: readonly ProviderType[];
  /** Meaning in requests. */
  readonly description: string;
  /** Meaning in responses; absent if they do not have it. */
  readonly shown?: string;
  /** Help of its flag, if that differs from the description. */
  readonly help?: string;
  /** Whether requests are sent to it. */
  readonly isAddress?: true;
  /** A value for the examples of commands. */
  readonly sample?: string;
}

/** A secret is sealed for the values in this order: a new field comes last. */
export const providerFields = {
  tenant: {
    needed: ['entra'],
    description: 'tenant of Entra ID: its id or domain',
    shown: 'tenant of Entra ID',
    sample: 'example.onmicrosoft.com',
  },
  clientId: {
    needed: ['entra'],
    description: 'id of this registry at Entra ID',
    shown: 'id of this registry at Entra ID',
    help: 'id of this registry at the provider',
    sample: '5f1c',
  },
  address: {
    needed: ['okta', 'webauthn', 'devmgr'],
    allowed: ['entra'],
    description:
      'https://, the Okta organization, the console of this registry, or where a WebAuthn server makes options',
    shown: 'address of the Okta organization, of this registry, or where options of a WebAuthn server are made',
    help: 'address of the Okta organization, the devmgr console, or the creation options of a WebAuthn server, https://…',
    isAddress: true,
  },
  finishAddress: {
    needed: ['webauthn'],
    description: 'https://, where a WebAuthn server accepts the answer of a key',
    shown: 'where a WebAuthn server accepts the answer of a key',
    help: 'address where a WebAuthn server accepts the response of a key',
    isAddress: true,
  },
  removeAddress: {
    needed: ['webauthn'],
    description: 'https://, where a WebAuthn server removes a credential',
    shown: 'where a WebAuthn server removes a credential',
    help: 'address where a WebAuthn server removes a credential',
    isAddress: true,
  },
  loginAddress: {
    needed: [],
    allowed: ['entra'],
    description: 'sign-in of a national cloud of Entra ID; address is then that of its Microsoft Graph',
    shown: 'sign-in of a national cloud of Entra ID',
    help: 'sign-in address of an Entra ID national cloud; --address is then its Graph address',
    isAddress: true,
  },
  verification: {
    needed: [],
    allowed: ['ssh'],
    description: 'pin: an SSH key asks for its PIN at each login, in addition to the touch',
    shown: 'pin if SSH keys ask for their PIN at each login',
  },
} as const satisfies Readonly<Record<string, ProviderField>>;

type Fields = typeof providerFields;
/** A field of a provider. */
export type ProviderSetting = keyof Fields;
/** The fields that responses have. */
export type ShownProviderSetting = {
  [N in ProviderSetting]: Fields[N] extends { readonly shown: string } ? N : never;
}[ProviderSetting];

const field = (name: ProviderSetting): ProviderField => providerFields[name];
/** The names, in the order of the table. */
export const providerSettings = Object.keys(providerFields) as ProviderSetting[];
/** Names of the fields that responses have. */
export const shownProviderSettings = providerSettings.filter(
  (name): name is ShownProviderSetting => field(name).shown !== undefined,
);
/** Names of the fields that are addresses of requests. */
export const providerAddresses = providerSettings.filter(name => field(name).isAddress);

/** A value for each of some fields. */
export const forEachProviderSetting = <N extends ProviderSetting, V>(
  names: readonly N[],
  create: (description: ProviderField, name: N) => V,
) => Object.fromEntries(names.map(name => [name, create(providerFields[name], name)])) as Record<N, V>;

/** The fields that a provider of a type needs, and those that it may have. */
export const settingsOfProvider = (type: ProviderType) => ({
  needs: providerSettings.filter(name => field(name).needed.includes(type)),
  may: providerSettings.filter(name => field(name).allowed?.includes(type)),
});

/** The fields that a provider of a type needs, as a sentence without its end. */
export function neededOf(type: ProviderType, nameOf: (setting: ProviderSetting) => string): string {
  const names = settingsOfProvider(type).needs.map(nameOf);
  return `${type} needs ${[names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ')}`;
}

/** Values of some fields. */
export type ProviderSettingValues = Readonly<Partial<Record<ProviderSetting, string | null | undefined>>>;

/** The organization at a provider that has many at one address; null at others. */
export const organizationOf = ({ tenant }: ProviderSettingValues): string | null => tenant ?? null;

/** Addresses of Entra ID outside national clouds. */
export const publicCloud = {
  login: 'https://login.microsoftonline.com',
  graph: 'https://graph.microsoft.com',
} as const;

/** The issuer of sign-ins, or why it cannot be known: `nameOf` names a field there. */
type IssuerOf = (
  settings: ProviderSettingValues,
  nameOf: (setting: ProviderSetting) => string,
) => { readonly issuer: string } | { readonly problem: string };

const ENTRA_ID = /^[0-9a-f-]{36}$/i;
const withoutSlash = (address: string) => address.replace(/\/$/, '');
/** The types of provider that people can also sign in at. */
export const signInIssuers: Readonly<Partial<Record<ProviderType, IssuerOf>>> = {
  okta: ({ address }) => ({ issuer: withoutSlash(address ?? '') }),
  entra: ({ tenant, loginAddress }, nameOf) =>
    ENTRA_ID.test(tenant ?? '')
      ? { issuer: `${withoutSlash(loginAddress ?? publicCloud.login)}/${tenant}/v2.0` }
      : { problem: `needs the id of the tenant in ${nameOf('tenant')}: the issuer has it, not the domain` },
};

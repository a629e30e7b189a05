/** What each type of provider asks for, and what is sent for it. */
import type { DirectorySettings } from '../../../src/contract/directory.ts';
import {
  directoryBounds as directory,
  providerBounds,
  serviceTokenDays,
  ssoBounds as sso,
} from '../../../src/contract/limits.ts';
import { type ProviderSetting, settingsOfProvider } from '../../../src/contract/provider-fields.ts';
import { isOwnType, type ProviderType } from '../../../src/contract/values.ts';
import { directoryGroup, directoryGroupText } from '../../../src/fleet/directory-groups.ts';
import type { ProviderPart } from '../../../src/fleet/provider-parts.ts';
import type { FieldsOf, SettingField } from '../../parts/settings-form.tsx';
import { tokens, providers as words } from '../../text/words.ts';
import type { ProviderSettings } from './rows.ts';

/** A type of provider, whatever it gives. */
export type AnyType = ProviderPart['type'];

const groups = { kind: 'lines', maxLength: sso.names * (sso.text + 1) } as const;
const signInFields: FieldsOf<'setSso'> = {
  issuer: { isNeeded: true, maxLength: sso.url },
  clientId: { isNeeded: true, maxLength: sso.text },
  clientSecret: { kind: 'secret', maxLength: sso.secret },
  'roles.ADMIN': groups,
  'roles.DEALER': groups,
  'roles.VIEWER': groups,
  holders: { kind: 'flag' },
  groupsClaim: { isNeeded: true, isRare: true, maxLength: sso.text },
  scopes: { ...groups, isRare: true, isUsualIfEmpty: true },
  'strong.acr': { ...groups, isRare: true },
  'strong.amr': { ...groups, isRare: true },
  'localAccounts.from': { kind: 'choice', isRare: true },
  'localAccounts.names': { ...groups, isRare: true, isUsualIfEmpty: true },
};

const dn = { maxLength: directory.text } as const;
const minutes = { kind: 'number', isNeeded: true, isRare: true } as const;
const attribute = { isRare: true, maxLength: directory.attribute } as const;
/** A line of a group that is stored stays that group: a name with `=` could be read in two ways. */
const groupsBesides = (stored: DirectorySettings['groups']): SettingField => ({
  kind: 'lines',
  item: {
    of: line => stored.find(one => directoryGroupText(one) === line) ?? directoryGroup(line) ?? { name: '', dn: line },
    lineOf: directoryGroupText,
  },
});
const directoryFields: FieldsOf<'setDirectory'> = {
  url: { ...dn, isNeeded: true },
  base: { ...dn, isNeeded: true },
  bindDn: dn,
  bindPassword: { kind: 'secret', ...dn },
  ca: { kind: 'prose', maxLength: directory.ca },
  groups: groupsBesides([]),
  filter: { ...dn, isRare: true },
  everyMinutes: minutes,
  fullEveryMinutes: minutes,
  'attributes.userName': attribute,
  'attributes.name': attribute,
  'attributes.email': attribute,
  'attributes.id': attribute,
  'attributes.disabled': attribute,
  'attributes.groups': attribute,
};

const tokenFields = {
  expiresInDays: { kind: 'number', isNeeded: true },
  allowedFrom: { kind: 'lines', isUsualIfEmpty: true },
} as const;

/** A form: its fields, their words, and what they begin with. */
interface ProviderForm {
  readonly fields: Readonly<Record<string, SettingField>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly hints?: Readonly<Record<string, string>>;
  readonly choices?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly before: object;
}

/** The form of a type of provider. `settings`: as they are stored, or the usual ones. */
export function formOf(type: AnyType, { oidc, ldap }: Partial<ProviderSettings>): ProviderForm {
  if (type === 'scim') {
    const { min, max } = serviceTokenDays;
    const labels = { expiresInDays: tokens.days(min, max), allowedFrom: words.networks };
    return { fields: tokenFields, labels, hints: { allowedFrom: tokens.networksHint }, before: { expiresInDays: max } };
  }
  if (type === 'oidc') {
    const secret = { ...signInFields.clientSecret, isNeeded: !oidc?.enabled };
    const hints = { ...words.hintOf.oidc, ...(oidc?.enabled && { clientSecret: words.kept }) };
    const choices = { 'localAccounts.from': words.localFrom };
    return {
      fields: { ...signInFields, clientSecret: secret },
      labels: words.field.oidc,
      hints,
      choices,
      before: oidc ?? {},
    };
  }
  if (type === 'ldap') {
    const hints = { ...words.hintOf.ldap, ...(ldap?.enabled && { bindPassword: words.kept }) };
    const fields = { ...directoryFields, groups: groupsBesides(ldap?.groups ?? []) };
    return { fields, labels: words.field.ldap, hints, before: ldap ?? {} };
  }
  return keyForm(type);
}

function keyForm(type: ProviderType): ProviderForm {
  const { needs, may } = settingsOfProvider(type);
  const fieldOf = (setting: ProviderSetting) =>
    [setting, { isNeeded: needs.includes(setting), maxLength: providerBounds.url }] as const;
  const labelOf = (setting: ProviderSetting) =>
    setting === 'address' ? words.address[type as keyof typeof words.address] : words.setting[setting];
  const secret = { kind: 'secret', isNeeded: true, maxLength: providerBounds.secret } as const;
  const settings = [...needs, ...may];
  return {
    fields: { ...Object.fromEntries(settings.map(fieldOf)), ...(!isOwnType(type) && { secret }) },
    labels: {
      ...Object.fromEntries(settings.map(setting => [setting, labelOf(setting)])),
      ...(!isOwnType(type) && { secret: words.secret[type] }),
    },
    before: {},
  };
}

/** Identifiers of records: a prefix and an ascending number from 1, without leading zeros. Activation codes as people type them. */

declare const brand: unique symbol;
type Branded<B extends string> = string & { readonly [brand]: B };

/** `DEV-` and a number. Assigned at registration, never reused. */
type DeviceId = Branded<'DeviceId'>;
/** `USR-` and a number. */
type UserId = Branded<'UserId'>;
/** `APP-` and a number: one uploaded installer package. */
type VersionId = Branded<'VersionId'>;
/** `BKP-` and a number: one uploaded backup. */
type BackupId = Branded<'BackupId'>;

/** `TOK-` and a number: one service token. */
type TokenId = Branded<'TokenId'>;

/** `PSK-` and a number: one security key that a user signs in with. */
type PasskeyId = Branded<'PasskeyId'>;

/** `WHK-` and a number: one webhook. */
type WebhookId = Branded<'WebhookId'>;

/** `PER-` and a number: one person. */
type PersonId = Branded<'PersonId'>;

/** `IDP-` and a number: one provider at which keys are issued. */
type ProviderId = Branded<'ProviderId'>;

/** `CRD-` and a number: one credential of a device at a provider. */
type CredentialId = Branded<'CredentialId'>;

/** `GRP-` and a number: one group of persons. */
type GroupId = Branded<'GroupId'>;

interface IdKind<T extends string> {
  readonly prefix: string;
  /** JSON Schema pattern of the whole identifier. */
  readonly pattern: string;
  format(number: number): T;
  /** The number in an identifier; null if the text is not an identifier of this kind. */
  parse(text: string): number | null;
}

function idKind<T extends string>(prefix: string): IdKind<T> {
  const pattern = `^${prefix}[1-9][0-9]{0,14}$`;
  const regex = new RegExp(pattern);
  return {
    prefix,
    pattern,
    format: number => (prefix + number) as T,
    parse: text => (regex.test(text) ? Number(text.slice(prefix.length)) : null),
  };
}

/** Formats and parses device ids. */
export const deviceIds = idKind<DeviceId>('DEV-');
/** Formats and parses user ids. */
export const userIds = idKind<UserId>('USR-');
/** Formats and parses ids of application versions. */
export const versionIds = idKind<VersionId>('APP-');
/** Formats and parses backup ids. */
export const backupIds = idKind<BackupId>('BKP-');
/** Formats and parses ids of service tokens. */
export const tokenIds = idKind<TokenId>('TOK-');
/** Formats and parses ids of the keys that users sign in with. */
export const passkeyIds = idKind<PasskeyId>('PSK-');
/** Formats and parses ids of webhooks. */
export const webhookIds = idKind<WebhookId>('WHK-');
/** Formats and parses ids of persons. */
export const personIds = idKind<PersonId>('PER-');
/** Formats and parses ids of groups of persons. */
export const groupIds = idKind<GroupId>('GRP-');

/** Formats and parses ids of providers. */
export const providerIds = idKind<ProviderId>('IDP-');
/** Formats and parses ids of credentials at providers. */
export const credentialIds = idKind<CredentialId>('CRD-');

/** An activation code as it is written, from what a person typed: without its hyphens, or with spaces. Any other text is returned. */
export function writtenActivationCode(typed: string): string {
  const symbols = typed.replace(/[\s-]/g, '');
  return symbols.length === 16 ? symbols.match(/.{4}/g)!.join('-') : typed;
}

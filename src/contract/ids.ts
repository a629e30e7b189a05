/** Identifiers: a prefix and an ascending number from 1 without leading zeros. */

declare const brand: unique symbol;
type Branded<B extends string> = string & { readonly [brand]: B };

export type DeviceId = Branded<'DeviceId'>;
export type UserId = Branded<'UserId'>;
export type VersionId = Branded<'VersionId'>;
export type BackupId = Branded<'BackupId'>;

interface IdKind<T extends string> {
  readonly prefix: string;
  /** JSON Schema pattern of the whole identifier. */
  readonly pattern: string;
  format(number: number): T;
  /** The number behind an identifier, or null where the text is none. */
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

export const deviceIds = idKind<DeviceId>('DEV-');
export const userIds = idKind<UserId>('USR-');
export const versionIds = idKind<VersionId>('APP-');
export const backupIds = idKind<BackupId>('BKP-');

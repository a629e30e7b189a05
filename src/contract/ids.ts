/** Identifiers of records: a prefix and an ascending number from 1, without leading zeros. Activation codes as people type them. */

interface IdKind {
  readonly prefix: string;
  /** JSON Schema pattern of the whole identifier. */
  readonly pattern: string;
  format(number: number): string;
  /** The number in an identifier; null if the text is not an identifier of this kind. */
  parse(text: string): number | null;
}

function idKind(prefix: string): IdKind {
  const pattern = `^${prefix}[1-9][0-9]{0,14}$`;
  const regex = new RegExp(pattern);
  return {
    prefix,
    pattern,
    format: number => prefix + number,
    parse: text => (regex.test(text) ? Number(text.slice(prefix.length)) : null),
  };
}

/** Ids of devices: assigned at registration, never reused. */
export const deviceIds = idKind('DEV-');
/** Ids of users. */
export const userIds = idKind('USR-');
/** Ids of application versions: each is one uploaded installer package. */
export const versionIds = idKind('APP-');
/** Ids of uploaded backups. */
export const backupIds = idKind('BKP-');
/** Ids of service tokens. */
export const tokenIds = idKind('TOK-');
/** Ids of the security keys that users sign in with. */
export const passkeyIds = idKind('PSK-');
/** Ids of webhooks. */
export const webhookIds = idKind('WHK-');
/** Ids of persons. */
export const personIds = idKind('PER-');
/** Ids of groups of persons. */
export const groupIds = idKind('GRP-');
/** Ids of providers at which keys are issued. */
export const providerIds = idKind('IDP-');
/** Ids of the credentials of devices at providers. */
export const credentialIds = idKind('CRD-');

const kinds = [
  deviceIds,
  userIds,
  versionIds,
  backupIds,
  tokenIds,
  passkeyIds,
  webhookIds,
  personIds,
  groupIds,
  providerIds,
  credentialIds,
];

/** Whether a text has the form of an id of any kind, in upper or lower case. */
export const isIdForm = (text: string): boolean => {
  const written = text.toUpperCase();
  return kinds.some(({ prefix }) => written.startsWith(prefix) && /^[0-9]+$/.test(written.slice(prefix.length)));
};

/** An activation code as it is written, from what a person typed: without its hyphens, or with spaces. Any other text is returned. */
export function writtenActivationCode(typed: string): string {
  const symbols = typed.replace(/[\s-]/g, '');
  return symbols.length === 16 ? symbols.match(/.{4}/g)!.join('-') : typed;
}

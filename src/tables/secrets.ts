/**
 * Names of columns and properties with key material or codes that open a key: of OATH, security keys, SIM cards and IoT platforms. Such a
 * value is never sent, shown or stored. Numbers in a name do not matter: PIN1, KIC_2, K4 (hex).
 */

const namesIn = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Words, and words that are written as one, which make any name that contains them a secret. */
const secretWords = namesIn(`
  secret secrets secretkey sharedsecret clientsecret seed seeds tokenseed otpseed otpsecret totpsecret hotpsecret otpkey
  password passwords passwd passphrase passcode pwd passwort kennwort geheimnis geheimzahl zugangscode entsperrcode sperrcode
  motdepasse contraseña lockpw lockcode unlockcode accesscode confirmationcode securitycode
  pin pins puk puks puc pukcode pincode adm ki eki opc eopc kic kik psk presharedkey sharedkey
  privatekey privateid privateidentity internalname internaluid managementkey masterkey rootkey transportkey
  symmetrickey authkey authenticationkey encryptionkey aeskey deskey deskeys
  accesskey accesstoken apikey connectionstring credentials matchingid recoverykey
  appkey nwkkey appskey nwkskey genappkey keymaterial`);

/** Keys of IoT devices, and columns of a database: the value decides. */
const wordsOfKeysOrIds = namesIn('primarykey secondarykey');

/** Names of keys of SIM cards, which are words of other meanings within a longer name. */
const wholeNames = namesIn('k op kid kcv mk');
/** Words that may stand beside such a name. */
const decorations = namesIn('hex hexadecimal enc encrypted plain value sim usim uicc');

/** More words than this are not joined: `pre shared key`. */
const MOST_JOINED = 3;

/** The words of a name in lower case, without numbers and punctuation. */
const wordsOf = (name: string): string[] => name.toLowerCase().match(/\p{L}+/gu) ?? [];

/** `primaryKey` as two words. */
const separated = (name: string): string =>
  name.replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');

function hasWordOf(known: ReadonlySet<string>, words: readonly string[]): boolean {
  return words.some((_, start) => {
    for (let end = start + 1; end <= Math.min(start + MOST_JOINED, words.length); end++)
      if (known.has(words.slice(start, end).join(''))) return true;
    return false;
  });
}

function isWholeName(words: readonly string[]): boolean {
  return words.some(word => wholeNames.has(word)) && words.every(word => wholeNames.has(word) || decorations.has(word));
}

const contains = (known: ReadonlySet<string>, name: string): boolean =>
  hasWordOf(known, wordsOf(name)) || hasWordOf(known, wordsOf(separated(name)));

/** Whether a column or property of this name holds secrets, whatever its values are. */
export const isSecretName = (name: string): boolean => contains(secretWords, name) || isWholeName(wordsOf(name));

/** Whether this value in a column or property of this name is a secret. */
export const isSecretValue = (name: string, value: unknown): boolean =>
  isSecretName(name) || (typeof value === 'string' && contains(wordsOfKeysOrIds, name) && isLongKey(value));

/**
 * The columns of a file that have secrets. `isFree`: whether a column is not read. One that is read holds a key if a person has chosen it.
 */
export class SecretColumns {
  readonly #names: readonly string[];
  readonly #secret: readonly boolean[];
  readonly #byValue: readonly boolean[];
  /** The name of a column is that of secrets, or an earlier line had one. */
  #found: boolean;

  constructor(names: readonly string[], isFree: (index: number) => boolean) {
    this.#names = names;
    this.#secret = names.map((name, index) => isFree(index) && isSecretName(name));
    this.#byValue = names.map(name => contains(wordsOfKeysOrIds, name));
    this.#found = this.#secret.includes(true);
  }

  isSecret(index: number, cell: string): boolean {
    return this.#secret[index] === true || (this.#byValue[index] === true && isSecretValue(this.#names[index]!, cell));
  }

  /** Whether a line may have a secret, also in the place of another value. */
  areIn(cells: readonly string[]): boolean {
    const isShifted = cells.length !== this.#names.length;
    this.#found ||=
      this.#byValue.includes(true) &&
      cells.some((cell, index) => (isShifted ? isLongKey(cell) : this.#byValue[index] === true && isLongKey(cell)));
    return this.#found;
  }
}

/** Whether a text can be a key of at least 128 bits in hex or base64. The number of a row and a UUID are none. */
export function isLongKey(text: string): boolean {
  const word = text.trim();
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(word)) return false;
  return (
    /^[0-9a-f]{32,}$/i.test(word.replace(/^0x|[\s:]/g, '')) || (/^[\w+/-]{22,}={0,2}$/.test(word) && /\D/.test(word))
  );
}

const LONGEST_NAME = 40;
/** A text of this length without a space, with digits among its letters, is a key and not the name of a column. */
const KEY_LENGTH = 16;

/**
 * Whether a first line is a line of data: it is not shown as the names of columns, because it may hold secrets.
 */
export const isDataLine = (cells: readonly string[]): boolean =>
  cells.some(cell => /\d{3}|[=/+]/.test(cell) || cell.trim().length > LONGEST_NAME || looksLikeKey(cell));

/** Whether a text is a key in hex, base32 or base64 rather than a name. */
export function looksLikeKey(text: string): boolean {
  const word = text.trim();
  return word.length >= KEY_LENGTH && /^[A-Za-z0-9+/=]*$/.test(word) && /\d/.test(word);
}

/** The name of a column as it may be shown: one with a key in it is a line of data, which was read as names. */
export function shownName(name: string): string {
  const runs = name.match(/[A-Za-z0-9+/=]+/g) ?? [];
  return isLongKey(name) || runs.some(looksLikeKey) ? '…' : name.trim();
}

/** Secrets that were found in an input and dropped while it was read: how many, under which names. Never their values. */
export class DroppedSecrets {
  readonly #counts = new Map<string, number>();

  note(name: string, count = 1): void {
    const shown = shownName(name);
    this.#counts.set(shown, (this.#counts.get(shown) ?? 0) + count);
  }

  /** A sentence for people; null if there were none. */
  get words(): string | null {
    if (this.#counts.size === 0) return null;
    const names = [...this.#counts].map(([name, count]) => `${name} (${count} ${count === 1 ? 'value' : 'values'})`);
    return `Secrets were dropped while reading, not sent and not stored: ${names.join(', ')}.`;
  }
}

/** Encrypted backups: age files, in memory that does not grow with the file. Passphrases and identities come from files only. */
import { createReadStream, createWriteStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import type { Decrypter, Encrypter } from 'age-encryption';
import { syncFile } from '../base/files.ts';
import { StartRefused } from '../base/start-refused.ts';

/** The secret that opens an encrypted backup: one of the two, or neither if it is not encrypted. */
export interface DecryptionOptions {
  /** File with identities of age, one on each line. */
  readonly identityFile?: string | null | undefined;
  readonly passphraseFile?: string | null | undefined;
}

/** Who can read a backup: those who have the identity of a recipient, or the passphrase. Not encrypted if there is neither. */
interface Options {
  readonly encryptTo?: readonly string[] | undefined;
  readonly passphraseFile?: string | null | undefined;
}

const firstLine = 'age-encryption.org/v1\n';
/** The header of an age file ends with this line. A file whose header is longer than `maxHeaderBytes` is not read. */
const endOfHeader = '\n--- ';
const maxHeaderBytes = 256 * 1024;

/** Whether a file is an age file. */
export async function isEncrypted(file: string): Promise<boolean> {
  return (await startOf(file, firstLine.length)) === firstLine;
}

/** The encryption that the options ask for; null if none. Refuses recipients and files that cannot be used. */
export async function encrypterFor({ encryptTo = [], passphraseFile }: Options): Promise<Encrypter | null> {
  if (encryptTo.length === 0 && !passphraseFile) return null;
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  if (passphraseFile) encrypter.setPassphrase(await passphraseIn(passphraseFile));
  for (const recipient of encryptTo) addRecipient(encrypter, recipient);
  return encrypter;
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient);
  } catch {
    const secret = recipient.toUpperCase().startsWith('AGE-SECRET-KEY-');
    throw new StartRefused(
      2,
      secret
        ? 'a recipient of --encrypt-to is a secret identity'
        : `${JSON.stringify(recipient)} is not an age recipient`,
      secret ? 'give its public part: age1…. Others may have seen the identity' : 'a recipient begins with age1',
    );
  }
}

/** Writes the content of `file` encrypted into the new file `to` (0600), durably. */
export async function encryptFile(encrypter: Encrypter, file: string, to: string): Promise<void> {
  await pour(await encrypter.encrypt(contentOf(file)), to);
}

/** Writes the content of the age file `file` into the new file `to` (0600). Refuses with the reason if it cannot be decrypted. */
export async function decryptFile(file: string, to: string, unlocking: DecryptionOptions): Promise<void> {
  const decrypter = await decrypterFor(file, unlocking);
  if (!(await startOf(file, maxHeaderBytes)).includes(endOfHeader))
    throw new StartRefused(
      1,
      `${file} is damaged: it has no complete age header`,
      'nothing was changed; try another backup',
    );
  const content = await decrypter.decrypt(contentOf(file)).catch(() => {
    const source = unlocking.passphraseFile ?? unlocking.identityFile;
    const what = unlocking.passphraseFile ? 'passphrase' : 'identity';
    throw new StartRefused(
      1,
      `${file} cannot be decrypted: the ${what} in ${source} does not open it`,
      `name another ${what}`,
    );
  });
  await pour(content, to).catch(error => {
    if ((error as NodeJS.ErrnoException).code) throw error;
    throw new StartRefused(
      1,
      `${file} is damaged: it was changed or truncated`,
      'nothing was changed; try another backup',
    );
  });
}

async function decrypterFor(file: string, { identityFile, passphraseFile }: DecryptionOptions): Promise<Decrypter> {
  if (!identityFile && !passphraseFile)
    throw new StartRefused(2, `${file} is encrypted`, 'add --identity-file FILE or --passphrase-file FILE');
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  if (passphraseFile) decrypter.addPassphrase(await passphraseIn(passphraseFile));
  if (identityFile) await addIdentities(decrypter, identityFile);
  return decrypter;
}

async function addIdentities(decrypter: Decrypter, file: string): Promise<void> {
  const lines = (await textIn(file)).split('\n').map(line => line.trim());
  const identities = lines.filter(line => line !== '' && !line.startsWith('#'));
  try {
    for (const identity of identities) decrypter.addIdentity(identity);
  } catch {
    throw notUsable(file, 'is not a file of identities', 'write one identity on each line: AGE-SECRET-KEY-…');
  }
  if (identities.length === 0) throw notUsable(file, 'has no identity', 'write one on each line: AGE-SECRET-KEY-…');
}

/** The first line of the file. */
async function passphraseIn(file: string): Promise<string> {
  const [line = ''] = (await textIn(file)).split('\n');
  const passphrase = line.replace(/\r$/, '');
  if (passphrase === '') throw notUsable(file, 'has no passphrase', 'write it on the first line');
  return passphrase;
}

const textIn = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch(error => {
    throw notUsable(file, `cannot be read: ${(error as Error).message}`, 'name another file');
  });

const notUsable = (file: string, problem: string, hint: string) => new StartRefused(2, `${file} ${problem}`, hint);

const contentOf = (file: string) => Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>;

async function pour(content: ReadableStream<Uint8Array>, to: string): Promise<void> {
  await content.pipeTo(Writable.toWeb(createWriteStream(to, { flags: 'wx', mode: 0o600 })));
  await syncFile(to);
}

async function startOf(file: string, length: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The files of OpenSSH for a key on a security key (PROTOCOL.key, PROTOCOL.u2f): neither has a secret, the key itself signs. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { SshCredential } from '../../../contract/providers.ts';
import { usage } from '../../fault.ts';
import { writeNew } from '../../settings/files.ts';

/** What a key asks for at each use. */
const FLAG = { touch: 0x01, pin: 0x04 } as const;
/** The block size of files without encryption. */
const BLOCK = 8;

/** Throws a usage fault if a file is in the way: the key is not touched in vain. */
export function demandNoSshFile(file: string): void {
  for (const name of [file, `${file}.pub`])
    if (existsSync(name)) throw usage(`${name} already exists`, 'name another file: --ssh-file FILE');
}

/** Writes FILE and FILE.pub. */
export function writeSshFiles(file: string, credential: SshCredential, comment: string): void {
  writeNew(file, privateFile(credential, comment), false);
  writeNew(`${file}.pub`, `${credential.publicKey} ${comment}\n`, false);
}

/** The file that `ssh -i` takes. */
export function privateFile({ publicKey, handle, verifyRequired }: SshCredential, comment: string): string {
  const blob = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64');
  const check = randomBytes(4);
  const flags = FLAG.touch | (verifyRequired ? FLAG.pin : 0);
  const ofKey = [blob, Buffer.of(flags), text(Buffer.from(handle, 'base64url')), text(''), text(comment)];
  const unpadded = Buffer.concat([check, check, ...ofKey]);
  const padding = Array.from({ length: (BLOCK - (unpadded.length % BLOCK)) % BLOCK }, (_, at) => at + 1);
  const secret = Buffer.concat([unpadded, Buffer.from(padding)]);
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...['none', 'none', ''].map(text),
    Buffer.of(0, 0, 0, 1),
    text(blob),
    text(secret),
  ]);
  const lines = whole
    .toString('base64')
    .replaceAll(/(.{70})/g, '$1\n')
    .trimEnd();
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

/** Bytes after their length (RFC 4251, 5). */
function text(bytes: string | Uint8Array): Buffer {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

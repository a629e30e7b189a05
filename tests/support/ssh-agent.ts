/** An agent for ssh whose only key is on a security key of the tests: it signs as PROTOCOL.u2f of OpenSSH describes. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { IssuableAuthenticator } from './issuable-authenticator.ts';
import { temporaryFolder } from './temporary.ts';

const MESSAGE = { failure: 5, list: 11, keys: 12, sign: 13, signed: 14 } as const;

const text = (bytes: string | Uint8Array): Buffer => {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
};
const readText = (from: Buffer, at: number): Buffer => from.subarray(at + 4, at + 4 + from.readUInt32BE(at));

/** Resolves with the path of its socket. `credentialId`: of a credential that the authenticator stores. */
export async function sshAgent(authenticator: IssuableAuthenticator, publicKey: string, credentialId: Uint8Array) {
  const [type = '', key = ''] = publicKey.split(' ');
  const blob = Buffer.from(key, 'base64');
  const answer = (request: Buffer): Buffer => {
    if (request[0] === MESSAGE.list)
      return Buffer.concat([Buffer.of(MESSAGE.keys, 0, 0, 0, 1), text(blob), text('security key')]);
    if (request[0] !== MESSAGE.sign) return Buffer.of(MESSAGE.failure);
    const message = readText(request, 1 + 4 + readText(request, 1).length);
    const hash = createHash('sha256').update(message).digest();
    const { data, signature } = authenticator.assertion(credentialId, hash, 0x01);
    const content = type.startsWith('sk-ecdsa') ? Buffer.concat(numbersIn(signature).map(text)) : signature;
    // After the hash of the application: flags and counter.
    return Buffer.concat([
      Buffer.of(MESSAGE.signed),
      text(Buffer.concat([text(type), text(content), data.subarray(32)])),
    ]);
  };
  const server = createServer(socket => {
    let waiting = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', part => {
      waiting = Buffer.concat([waiting, part as Buffer]);
      while (waiting.length >= 4 && waiting.length >= 4 + waiting.readUInt32BE(0)) {
        const request = readText(waiting, 0);
        waiting = waiting.subarray(4 + request.length);
        socket.write(text(answer(request)));
      }
    });
  });
  const path = join(temporaryFolder(), 'agent');
  await new Promise<void>(resolve => void server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return path;
}

/** The two numbers of an ECDSA signature in DER, whose encoding is that of an mpint. */
function numbersIn(der: Buffer): Buffer[] {
  const first = der.subarray(4, 4 + der[3]!);
  const at = 4 + der[3]! + 2;
  return [first, der.subarray(at, at + der[at - 1]!)];
}
